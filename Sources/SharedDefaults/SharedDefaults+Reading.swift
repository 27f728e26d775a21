extension SharedDefaults {
  /// The value of a key: the value that was set, or else the registered default.
  /// - Complexity: one lock, two loads and a dictionary lookup.
  public func value(forKey key: String) -> DefaultsValue? {
    state.withLock { state in
      state.view.update(location)
      return state.view.image.values[key] ?? state.registered[key]
    }
  }

  /// Whether another process has written a change that it has yet to publish.
  var isAboutToChange: Bool { state.withLock { $0.view.isAboutToChange } }

  /// The value of a key; nil if it has none.
  public subscript(key: String) -> DefaultsValue? { value(forKey: key) }

  /// A string, or a number as a string; nil for any other type.
  public func string(forKey key: String) -> String? {
    switch value(forKey: key) {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    default: nil
    }
  }

  /// An integer, the integer part of another number, or the integer that a string contains; 0 for
  /// anything else.
  public func integer(forKey key: String) -> Int {
    switch value(forKey: key) {
    case .integer(let number): number
    case .double(let number): Int(exactly: number.rounded(.towardZero)) ?? 0
    case .bool(let isTrue): isTrue ? 1 : 0
    case .string(let text): Int(text) ?? 0
    default: 0
    }
  }

  /// A number, or the number that a string contains; 0 for anything else.
  public func double(forKey key: String) -> Double {
    switch value(forKey: key) {
    case .double(let number): number
    case .integer(let number): Double(number)
    case .bool(let isTrue): isTrue ? 1 : 0
    case .string(let text): Double(text) ?? 0
    default: 0
    }
  }

  /// True for `true`, a number other than 0, and the strings `YES`, `true` (in any case) and a
  /// number other than 0; false for anything else.
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

  /// The bytes of a data value; nil for any other type.
  public func bytes(forKey key: String) -> [UInt8]? {
    if case .data(let bytes) = value(forKey: key) { bytes } else { nil }
  }

  /// Nil unless the key has values in an order.
  public func array(forKey key: String) -> [DefaultsValue]? {
    if case .array(let values) = value(forKey: key) { values } else { nil }
  }

  /// An array, if all its elements are strings.
  public func stringArray(forKey key: String) -> [String]? {
    guard let values = array(forKey: key) else { return nil }
    let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    return texts.count == values.count ? texts : nil
  }

  /// Nil unless the key has values by keys.
  public func dictionary(forKey key: String) -> [String: DefaultsValue]? {
    if case .dictionary(let values) = value(forKey: key) { values } else { nil }
  }

  /// A consistent snapshot of all keys and values: those that were set, and the registered defaults
  /// of other keys.
  public func dictionaryRepresentation() -> [String: DefaultsValue] {
    state.withLock { state in
      state.view.update(location)
      return state.registered.merging(state.view.image.values) { _, set in set }
    }
  }

  /// A consistent snapshot of the values that were set, without registered defaults.
  public func storedValues() -> [String: DefaultsValue] {
    state.withLock { state in
      state.view.update(location)
      return state.view.image.values
    }
  }

  /// Registers default values for keys that are not set. They apply to this object only; nothing is
  /// written.
  public func register(defaults: [String: DefaultsValue]) {
    state.withLock { $0.registered.merge(defaults) { _, new in new } }
  }
}
