import AppGroup
import Platform

/// Encodes the fields of a file in sequence: integers in little endian, strings as a 16-bit byte
/// count followed by UTF-8.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func integer(_ value: some FixedWidthInteger) {
    bytes.append(littleEndian: value)
  }

  mutating func text(_ text: String) {
    let utf8 = Array(text.utf8)
    integer(UInt16(utf8.count))
    bytes += utf8
  }

  mutating func raw(_ bytes: [UInt8]) { self.bytes += bytes }
}

/// The reason that bytes are not a valid file.
enum FormatError: Error, Hashable {
  case wrong
  /// The file has a newer version than this program supports.
  case newer
}

/// Parses the fields of an untrusted file. Malformed data is refused before use.
struct ByteParser {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }
  var remaining: Int { bytes.count - position }
  /// The bytes that were read so far.
  var consumed: ArraySlice<UInt8> { bytes[..<position] }

  mutating func raw(_ count: Int) throws(FormatError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw .wrong }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(FormatError) -> Value {
    let count = Value.bitWidth / 8
    guard count <= remaining else { throw .wrong }
    defer { position += count }
    return Value(littleEndian: bytes[position..<position + count])
  }

  mutating func text(atMost limit: Int) throws(FormatError) -> String {
    let count = Int(try integer(UInt16.self))
    guard count <= limit, count <= remaining,
      let text = String(validating: bytes[position..<position + count], as: UTF8.self),
      text.isPlain
    else { throw .wrong }
    position += count
    return text
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
  mutating func header(_ magic: String) {
    raw(Array(magic.utf8))
    integer(Format.version)
  }

  mutating func attributes(_ attributes: CredentialAttributes) {
    raw(attributes.id)
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
  /// - Parameter isLease: whether these are the attributes of a lease, which is never in a file.
  mutating func attributes(
    isLease: Bool = false
  ) throws(FormatError) -> CredentialAttributes {
    let id = try raw(CredentialAttributes.idBytes)
    let generation = try integer(UInt64.self)
    guard let accessibility = Accessibility(rawValue: try integer(UInt8.self)) else {
      throw .newer
    }
    if (accessibility == .session) != isLease { throw .wrong }
    let created = try integer(Int64.self)
    let changed = try integer(Int64.self)
    let expires = try integer(Int64.self)
    let service = try text(atMost: CredentialName.maximumBytes)
    let account = try text(atMost: CredentialName.maximumBytes)
    let label = try text(atMost: CredentialAttributes.maximumTextBytes)
    let comment = try text(atMost: CredentialAttributes.maximumTextBytes)
    let count = Int(try integer(UInt8.self))
    guard (1...CredentialAttributes.maximumRecipients).contains(count), expires >= 0,
      let name = try? CredentialName(service: service, account: account)
    else { throw .wrong }
    var recipients: [Role] = []
    for _ in 0..<count { recipients.append(try role()) }
    // There is one valid encoding: sorted, without duplicates, including the host.
    guard isAscending(recipients), recipients.contains(.host) else { throw .wrong }
    return CredentialAttributes(
      name: name, label: label, comment: comment, accessibility: accessibility,
      createdAtSeconds: created, changedAtSeconds: changed,
      expiresAtSeconds: expires == 0 ? nil : expires, recipients: recipients,
      generation: generation, id: id)
  }
}
