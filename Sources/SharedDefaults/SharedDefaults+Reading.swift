extension SharedDefaults {
  /// The value of a key: what was set, or else what was registered.
  /// - Complexity: one lock, two loads and a look into a dictionary.
  public func value(forKey key: String) -> DefaultsValue? {
    state.withLock { state in
      state.view.update(place)
      return state.view.image.values[key] ?? state.registered[key]
    }
  }

  public subscript(key: String) -> DefaultsValue? { value(forKey: key) }

  /// A text, or a number as text; nil for any other kind of value.
  public func string(forKey key: String) -> String? {
    switch value(forKey: key) {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    default: nil
    }
  }

  /// A whole number, the whole part of another, or the number that a text is; 0 for anything else.
  public func integer(forKey key: String) -> Int {
    switch value(forKey: key) {
    case .integer(let number): number
    case .double(let number): Int(exactly: number.rounded(.towardZero)) ?? 0
    case .bool(let isTrue): isTrue ? 1 : 0
    case .string(let text): Int(text) ?? 0
    default: 0
    }
  }

  /// A number, or the number that a text is; 0 for anything else.
  public func double(forKey key: String) -> Double {
    switch value(forKey: key) {
    case .double(let number): number
    case .integer(let number): Double(number)
    case .bool(let isTrue): isTrue ? 1 : 0
    case .string(let text): Double(text) ?? 0
    default: 0
    }
  }

  /// Whether a value is true, a number other than 0, or the text `YES`, `true` or a number other
  /// than 0; false for anything else.
  public func bool(forKey key: String) -> Bool {
    switch value(forKey: key) {
    case .bool(let isTrue): isTrue
    case .integer(let number): number != 0
    case .double(let number): number != 0
    case .string(let text):
      ["yes", "true"].contains(text.lowercased()) || (Double(text) ?? 0) != 0
    default: false
    }
  }

  /// The bytes of data.
  public func bytes(forKey key: String) -> [UInt8]? {
    if case .data(let bytes) = value(forKey: key) { bytes } else { nil }
  }

  public func array(forKey key: String) -> [DefaultsValue]? {
    if case .array(let values) = value(forKey: key) { values } else { nil }
  }

  /// An array, if all in it are texts.
  public func stringArray(forKey key: String) -> [String]? {
    guard let values = array(forKey: key) else { return nil }
    let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    return texts.count == values.count ? texts : nil
  }

  public func dictionary(forKey key: String) -> [String: DefaultsValue]? {
    if case .dictionary(let values) = value(forKey: key) { values } else { nil }
  }

  /// All keys and values, as of one moment: what was set, and what was registered for other keys.
  public func dictionaryRepresentation() -> [String: DefaultsValue] {
    state.withLock { state in
      state.view.update(place)
      return state.registered.merging(state.view.image.values) { _, set in set }
    }
  }

  /// What was set, without what was registered, as of one moment.
  public func storedValues() -> [String: DefaultsValue] {
    state.withLock { state in
      state.view.update(place)
      return state.view.image.values
    }
  }

  /// Says what keys have that nobody has set. Only this object knows of it, and nothing is written.
  public func register(defaults: [String: DefaultsValue]) {
    state.withLock { $0.registered.merge(defaults) { _, new in new } }
  }
}
