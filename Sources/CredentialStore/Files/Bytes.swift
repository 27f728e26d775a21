import AppGroup
import Platform

/// Strings are a 16-bit byte count followed by UTF-8.
extension ByteParser {
  mutating func text(atMost limit: Int) throws(FormatError) -> String {
    let count = Int(try number(ofBytes: 2))
    guard count <= limit else { throw .wrong }
    var ahead = self
    let bytes = try slice(count)
    // Most text is ASCII, which needs no tables.
    if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) {
      return String(decoding: bytes, as: UTF8.self)
    }
    let text = try ahead.text(byteCount: count)
    guard text.isPlain else { throw .wrong }
    return text
  }

  /// Like `integer`, which is generic in another module: five times as slow.
  mutating func number(ofBytes count: Int) throws(FormatError) -> UInt64 {
    try slice(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func role() throws(FormatError) -> Role {
    guard let role = Role(rawValue: try text(atMost: 32)) else { throw .wrong }
    return role
  }

  /// Reads the magic and the version with which every file begins.
  mutating func header(_ magic: String) throws(FormatError) {
    guard try raw(8) == Array(magic.utf8) else { throw .wrong }
    switch try integer(UInt32.self) {
    case Format.version: return
    case let version where version > Format.version: throw .newer
    default: throw .wrong
    }
  }
}

/// Whether each value is greater than the one before it, which also excludes duplicates.
func isAscending(_ values: [some Comparable]) -> Bool {
  zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
}

/// The constants of docs/design/sealed-file.md.
enum Format {
  static let version: UInt32 = 1
  static let itemMagic = "FBSEALED"
  static let indexMagic = "FBINDEX1"
  static let indexVersion: UInt32 = 2
  /// An index's magic, its version, and the count of its head's bytes.
  static let indexStartBytes = 16
  static let keyMagic = "FBROLEKY"
  static let auditMagic = "FBAUDIT1"
  static let exportMagic = "FBEXPORT"
  static let handedMagic = "FBHANDED"
  static let maximumSecretBytes = 65536
  static let maximumItemBytes = 128 * 1024
  static let maximumIndexBytes = 64 << 20
  static let maximumItems = 65536
  static let maximumRoles = 64
  static let maximumLeases = 16
  static let maximumHandedBytes = 2 << 20
}

extension ByteWriter {
  mutating func text(_ text: String) {
    integer(UInt16(text.utf8.count))
    raw(text.utf8)
  }

  mutating func header(_ magic: String) {
    raw(magic.utf8)
    integer(Format.version)
  }

  mutating func attributes(_ attributes: CredentialAttributes) {
    raw(attributes.id.bytes)
    integer(attributes.generation)
    integer(attributes.accessibility.rawValue)
    integer(attributes.createdAtSeconds)
    integer(attributes.changedAtSeconds)
    integer(attributes.expiresAtSeconds ?? 0)
    text(attributes.name.service)
    text(attributes.name.account)
    text(attributes.label)
    text(attributes.comment)
    integer(UInt8(attributes.recipients.count))
    for role in attributes.recipients { text(role.rawValue) }
  }
}

extension ByteParser {
  /// - Parameters:
  ///   - isLease: whether these are the attributes of a lease, which is never in a file.
  ///   - previous: the attributes before these, which often have the same recipients.
  mutating func attributes(
    isLease: Bool = false, after previous: CredentialAttributes? = nil
  ) throws(FormatError) -> CredentialAttributes {
    let id = try CredentialID(&self)
    let generation = try number(ofBytes: 8)
    guard let accessibility = Accessibility(rawValue: UInt8(try number(ofBytes: 1))) else {
      throw .newer
    }
    if (accessibility == .session) != isLease { throw .wrong }
    let created = Int64(bitPattern: try number(ofBytes: 8))
    let changed = Int64(bitPattern: try number(ofBytes: 8))
    let expires = Int64(bitPattern: try number(ofBytes: 8))
    let service = try text(atMost: CredentialName.maximumBytes)
    let account = try text(atMost: CredentialName.maximumBytes)
    let label = try text(atMost: CredentialAttributes.maximumTextBytes)
    let comment = try text(atMost: CredentialAttributes.maximumTextBytes)
    guard expires >= 0, let name = try? CredentialName(plainService: service, account: account)
    else { throw .wrong }
    let recipients = try recipients(after: previous)
    return CredentialAttributes(
      name: name, label: label, comment: comment, accessibility: accessibility,
      createdAtSeconds: created, changedAtSeconds: changed,
      expiresAtSeconds: expires == 0 ? nil : expires, recipients: recipients,
      generation: generation, id: id)
  }

  private mutating func recipients(
    after previous: CredentialAttributes?
  ) throws(FormatError) -> [Role] {
    if let previous, skip(previous.recipients) { return previous.recipients }
    let count = Int(try number(ofBytes: 1))
    guard (1...CredentialAttributes.maximumRecipients).contains(count) else { throw .wrong }
    var recipients: [Role] = []
    for _ in 0..<count { recipients.append(try role()) }
    // There is one valid encoding: sorted, without duplicates, including the host.
    guard isAscending(recipients), recipients.contains(.host) else { throw .wrong }
    return recipients
  }

  /// Reads exactly these recipients, or nothing.
  private mutating func skip(_ recipients: [Role]) -> Bool {
    var ahead = self
    guard (try? ahead.number(ofBytes: 1)) == UInt64(recipients.count) else { return false }
    for role in recipients {
      guard let count = try? ahead.number(ofBytes: 2), let text = try? ahead.slice(Int(count)),
        text.elementsEqual(role.rawValue.utf8)
      else { return false }
    }
    self = ahead
    return true
  }
}
