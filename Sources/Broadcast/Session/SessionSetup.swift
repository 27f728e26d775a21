import CredentialStore
import Platform
import SharedDefaults

/// What a host passes to the extension of one session. It may be confidential, so it is only in
/// memory, and in one sealed credential of the group's store, from which the next host of the
/// session reads it.
struct SessionSetup: Hashable, Sendable {
  var title: String?
  var values: [String: DefaultsValue] = [:]
  /// The credentials that are handed over, by the names under which the extension opens them.
  var secrets: [String: CredentialName] = [:]

  /// The service of the sealed credential; its account is the session.
  static let service = "framebus.setup"
  static let maximumKeys = 32
  static let maximumKeyBytes = 48
  static let maximumTitleBytes = 256
  /// The longest encoding, in bytes.
  static let maximumBytes = 16_384

  init() {}

  var isEmpty: Bool { title == nil && values.isEmpty && secrets.isEmpty }

  /// Throws if an extension could not read it.
  func check() throws(BroadcastError) {
    let keys = Array(values.keys) + secrets.keys
    if let key = keys.first(where: { !Self.isKey($0) }) {
      throw .badSetup(
        "the key “\(key.plain)” is not allowed; use 1 to \(Self.maximumKeyBytes) letters, digits,"
          + " “.”, “-” and “_”")
    }
    if let key = values.keys.first(where: { secrets[$0] != nil }) {
      throw .badSetup("the key \(key) has a value and a credential; use one of them")
    }
    if keys.count > Self.maximumKeys {
      throw .badSetup("\(keys.count) keys are too many; use at most \(Self.maximumKeys)")
    }
    if let title, !Self.isTitle(title) {
      throw .badSetup("a title has 1 to \(Self.maximumTitleBytes) bytes and no control characters")
    }
    if encoding.count > Self.maximumBytes {
      throw .badSetup(
        "it has \(encoding.count) bytes, and at most \(Self.maximumBytes) are passed on; write the"
          + " rest into a file or a setting, and pass its name on")
    }
    // Such as a value that is nested too deeply.
    if SessionSetup(encoding) != self { throw .badSetup("a value cannot be stored") }
  }

  static func isKey(_ text: String) -> Bool {
    (1...maximumKeyBytes).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { letter in
        switch letter {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_": true
        default: false
        }
      }
  }

  private static func isTitle(_ text: String) -> Bool {
    (1...maximumTitleBytes).contains(text.utf8.count) && text.plain == text
  }

  /// The names of what it has, sorted: the part that members may see.
  var names: [String] {
    (title == nil ? [] : ["title"]) + (Array(values.keys) + secrets.keys).sorted()
  }

  /// What a request passes on otherwise, without the values.
  func differences(to wanted: SessionSetup) -> [BroadcastDifference] {
    func difference(_ name: String, _ isThere: Bool) -> BroadcastDifference {
      BroadcastDifference(
        option: "setup-info \(name)", running: isThere ? "another value" : nil,
        requested: "the given one")
    }
    var found: [BroadcastDifference] = []
    if let title = wanted.title, title != self.title {
      found.append(
        BroadcastDifference(
          option: "title", running: self.title == nil ? nil : "another one",
          requested: "the given one"))
    }
    for (key, value) in wanted.values.sorted(by: { $0.key < $1.key }) where values[key] != value {
      found.append(difference(key, values[key] != nil || secrets[key] != nil))
    }
    for (key, name) in wanted.secrets.sorted(by: { $0.key < $1.key }) where secrets[key] != name {
      found.append(difference(key, values[key] != nil || secrets[key] != nil))
    }
    return found
  }
}

// MARK: - As bytes, and in a store

extension SessionSetup {
  var encoding: [UInt8] {
    var parts: [String: DefaultsValue] = [
      "values": .dictionary(values),
      "secrets": .dictionary(
        secrets.mapValues { .array([.string($0.service), .string($0.account)]) }),
    ]
    parts["title"] = title.map { .string($0) }
    return DefaultsValue.dictionary(parts).encoding
  }

  /// - Returns: nil for malformed bytes.
  init?(_ encoding: [UInt8]) {
    guard encoding.count <= Self.maximumBytes,
      case .dictionary(let parts)? = DefaultsValue(encoding: encoding),
      case .dictionary(let values)? = parts["values"],
      case .dictionary(let names)? = parts["secrets"],
      values.count + names.count <= Self.maximumKeys,
      values.keys.allSatisfy(Self.isKey), names.keys.allSatisfy(Self.isKey)
    else { return nil }
    self.values = values
    for (key, name) in names {
      guard case .array(let texts) = name, texts.count == 2,
        case .string(let service) = texts[0], case .string(let account) = texts[1],
        let name = try? CredentialName(service: service, account: account)
      else { return nil }
      secrets[key] = name
    }
    guard let title = parts["title"] else { return }
    guard case .string(let text) = title, Self.isTitle(text) else { return nil }
    self.title = text
  }

  static func name(of session: SessionID) throws(CredentialError) -> CredentialName {
    try CredentialName(service: service, account: session.text)
  }

  func lease(of session: SessionID) throws(CredentialError) -> CredentialLease {
    try CredentialLease(Self.name(of: session), SecretBytes(copying: encoding))
  }

  /// Seals it for the hosts of a session, and removes those of earlier sessions, whose hosts died.
  func seal(for session: SessionID, in store: CredentialStore) throws(CredentialError) {
    for item in try store.list() where item.name.service == Self.service {
      try store.remove(item.name)
    }
    var options = CredentialOptions()
    options.label = "what a broadcast passes to its extension"
    try store.set(Self.name(of: session), SecretBytes(copying: encoding), options: options)
  }

  /// - Returns: nil if the store has nothing for the session.
  static func read(
    of session: SessionID, in store: CredentialStore
  ) throws(CredentialError) -> SessionSetup? {
    let name = try name(of: session)
    do throws(CredentialError) { _ = try store.attributes(of: name) } catch {
      if case .notFound = error { return nil }
      throw error
    }
    let bytes = try store.get(name).withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
    guard let setup = SessionSetup(bytes) else {
      throw .tampered("the setup information of the broadcast")
    }
    return setup
  }
}
