import AppGroup
import Platform

/// The index of the store: the public keys of its roles, the permitted writers, and every
/// credential with its generation. The host signs it, which reveals removals, replays and foreign
/// keys. A change takes effect when a new index replaces the old one.
struct StoreIndex: Equatable {
  struct PublicKeys: Equatable {
    let opening: [UInt8]
    let signing: [UInt8]
  }

  /// A writer of the credentials whose service has a prefix.
  struct Writer: Equatable {
    let key: [UInt8]
    let servicePrefix: String
  }

  static let fileName = "index"

  var generation: UInt64
  var roles: [Role: PublicKeys]
  var writers: [Writer]
  var items: CredentialTable

  func isWriter(_ key: [UInt8], of name: CredentialName) -> Bool {
    writers.contains { $0.key == key && name.service.hasPrefix($0.servicePrefix) }
  }

  func signedBytes(of group: GroupID, by signing: borrowing SigningKey) -> [UInt8] {
    var writer = ByteWriter()
    writer.header(Format.indexMagic)
    writer.text(group.description)
    writer.integer(generation)
    writer.raw(signing.publicKey)
    writer.integer(UInt16(roles.count))
    for (role, keys) in roles.sorted(by: { $0.key < $1.key }) {
      writer.text(role.rawValue)
      writer.raw(keys.opening)
      writer.raw(keys.signing)
    }
    writer.integer(UInt16(writers.count))
    for item in writers {
      writer.raw(item.key)
      writer.text(item.servicePrefix)
    }
    writer.integer(UInt32(items.count))
    for item in items.values { writer.attributes(item) }
    writer.raw(signing.signature(of: writer.bytes, domain: .index))
    return writer.bytes
  }

  /// Parses an index, and verifies that `signer` signed it for the group.
  init(parsing bytes: [UInt8], of group: GroupID, signer: [UInt8]) throws(FormatError) {
    var parser = ByteParser(bytes)
    try parser.header(Format.indexMagic)
    // The signature is checked before anything else is used.
    let signedCount = bytes.count - Sodium.signatureBytes
    guard signedCount > parser.position,
      Sodium.isSigned(
        bytes[..<signedCount], domain: .index, signature: Array(bytes[signedCount...]),
        by: signer),
      try parser.text(atMost: GroupID.maximumBytes) == group.description
    else { throw .wrong }
    generation = try parser.integer(UInt64.self)
    guard try parser.raw(Sodium.publicKeyBytes) == signer else { throw .wrong }
    roles = try Self.roles(&parser)
    writers = try Self.writers(&parser)
    items = try Self.items(&parser, generation)
    guard parser.position == signedCount else { throw .wrong }
  }

  /// A store without credentials.
  init(host: borrowing RoleKeys) {
    generation = 1
    roles = [.host: host.publicKeys]
    writers = [Writer(key: host.signing.publicKey, servicePrefix: "")]
    items = CredentialTable()
  }

  private static func roles(
    _ parser: inout ByteParser
  ) throws(FormatError) -> [Role: PublicKeys] {
    var roles: [Role: PublicKeys] = [:]
    var last: Role?
    let count = Int(try parser.integer(UInt16.self))
    guard (1...Format.maximumRoles).contains(count) else { throw .wrong }
    for _ in 0..<count {
      let role = try parser.role()
      // Sorted, without duplicates.
      if let last, last >= role { throw .wrong }
      last = role
      let opening = try parser.raw(Sodium.publicKeyBytes)
      roles[role] = PublicKeys(
        opening: opening, signing: try parser.raw(Sodium.publicKeyBytes))
    }
    guard roles[.host] != nil else { throw .wrong }
    return roles
  }

  private static func writers(_ parser: inout ByteParser) throws(FormatError) -> [Writer] {
    var writers: [Writer] = []
    let count = Int(try parser.integer(UInt16.self))
    guard (1...Format.maximumRoles).contains(count) else { throw .wrong }
    for _ in 0..<count {
      let key = try parser.raw(Sodium.publicKeyBytes)
      writers.append(
        Writer(
          key: key, servicePrefix: try parser.text(atMost: CredentialName.maximumBytes)))
    }
    return writers
  }

  private static func items(
    _ parser: inout ByteParser, _ generation: UInt64
  ) throws(FormatError) -> CredentialTable {
    var items: [CredentialAttributes] = []
    let count = Int(try parser.integer(UInt32.self))
    guard count <= Format.maximumItems else { throw .wrong }
    for _ in 0..<count {
      let item = try parser.attributes()
      guard item.generation <= generation else { throw .wrong }
      items.append(item)
    }
    guard let table = CredentialTable(sorted: items) else { throw .wrong }
    return table
  }
}

extension RoleKeys {
  var publicKeys: StoreIndex.PublicKeys {
    .init(opening: opening.publicKey, signing: signing.publicKey)
  }
}
