import AppGroup
import Platform

/// The signed beginning of an index: the public keys of the store's roles, the permitted writers,
/// and the hash of each block of credentials, which follow in the file.
struct IndexHead: Equatable {
  struct PublicKeys: Equatable {
    let opening: [UInt8]
    let signing: [UInt8]
  }

  /// A writer of the credentials whose service has a prefix.
  struct Writer: Equatable {
    let key: [UInt8]
    let servicePrefix: String
  }

  var generation: UInt64
  var roles: [Role: PublicKeys]
  var writers: [Writer]

  func isWriter(_ key: [UInt8], of name: CredentialName) -> Bool {
    writers.contains { $0.key == key && name.service.hasPrefix($0.servicePrefix) }
  }

  /// A store without credentials.
  init(host: borrowing RoleKeys) {
    generation = 1
    roles = [.host: host.publicKeys]
    writers = [Writer(key: host.signing.publicKey, servicePrefix: "")]
  }

  /// Parses what both versions have after the group.
  init(_ parser: inout ByteParser, signer: [UInt8]) throws(FormatError) {
    generation = try parser.integer(UInt64.self)
    guard try parser.raw(Sodium.publicKeyBytes) == signer else { throw .wrong }
    roles = try Self.roles(&parser)
    writers = try Self.writers(&parser)
  }

  func write(to writer: inout ByteWriter, signer: [UInt8]) {
    writer.integer(generation)
    writer.raw(signer)
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
}

extension RoleKeys {
  var publicKeys: IndexHead.PublicKeys {
    .init(opening: opening.publicKey, signing: signing.publicKey)
  }
}
