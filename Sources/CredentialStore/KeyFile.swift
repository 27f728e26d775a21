import AppGroup

/// A role's secret key as a file: in the open, which protects at rest only as far as the file's
/// permissions go, or under a passphrase. It also says whose signature the index must bear, so
/// that nobody can put a whole store of their own in place.
struct KeyFile: ~Copyable {
  let role: Role
  let group: String
  /// The public key that the index is signed with.
  let signer: [UInt8]
  private let content: Content

  private enum Content: ~Copyable {
    case open(SecretBytes)
    case locked(PassphraseCost, salt: [UInt8], nonce: [UInt8], context: [UInt8], sealed: [UInt8])
  }

  private enum Kind {
    static let open: UInt8 = 1
    static let locked: UInt8 = 2
  }

  static let maximumBytes = 1024

  static func name(of role: Role) -> String { "\(role).key" }

  /// - Parameter file: the bytes of the whole file.
  init(parsing file: borrowing SecretBytes) throws(CredentialError) {
    let path = "the key file"
    do {
      self = try KeyFile.parsed(file)
    } catch FormatError.newer {
      throw .newerVersion(path: path)
    } catch let error as CredentialError {
      throw error
    } catch {
      throw .tampered(path)
    }
  }

  private init(role: Role, group: String, signer: [UInt8], content: consuming Content) {
    self.role = role
    self.group = group
    self.signer = signer
    self.content = content
  }

  private static func parsed(_ file: borrowing SecretBytes) throws -> KeyFile {
    // All but the seed, if it is in the open; in the other kind that is a part of what is sealed.
    var parser = ByteParser(file.openPrefix(dropping: RoleKeys.seedBytes))
    try parser.header(Format.keyMagic)
    let kind = try parser.integer(UInt8.self)
    let role = try parser.role()
    let group = try parser.text(atMost: GroupID.maximumBytes)
    let signer = try parser.raw(Sodium.publicKeyBytes)
    if kind == Kind.open {
      guard parser.isAtEnd else { throw FormatError.wrong }
      let seed = try file.suffix(RoleKeys.seedBytes)
      return KeyFile(role: role, group: group, signer: signer, content: .open(seed))
    }
    guard kind == Kind.locked else { throw FormatError.newer }
    let cost = PassphraseCost(
      operations: try parser.integer(UInt64.self), memoryBytes: try parser.integer(UInt64.self))
    guard cost.isReasonable else { throw FormatError.wrong }
    let salt = try parser.raw(Sodium.saltBytes)
    let nonce = try parser.raw(Sodium.nonceBytes)
    let context = Array(parser.consumed)
    guard parser.remaining == sealedBytes - RoleKeys.seedBytes else { throw FormatError.wrong }
    let sealed = Array(file.openPrefix(dropping: 0).suffix(sealedBytes))
    return KeyFile(
      role: role, group: group, signer: signer,
      content: .locked(cost, salt: salt, nonce: nonce, context: context, sealed: sealed))
  }

  /// A padded seed and the tag.
  private static let sealedBytes = DataKey.blockBytes + Sodium.tagBytes

  /// The role's secret bytes.
  borrowing func seed(
    passphrase: borrowing SecretBytes?
  ) throws(CredentialError) -> SecretBytes {
    switch content {
    case .open(let seed): return try seed.suffix(RoleKeys.seedBytes)
    case .locked(let cost, let salt, let nonce, let context, let sealed):
      guard let key = try Self.key(passphrase, salt, cost) else {
        throw .locked(role, isWrongPassphrase: false)
      }
      let seed = try key.decrypt(sealed, nonce: nonce, context: context)
      guard let seed, seed.byteCount == RoleKeys.seedBytes else {
        throw .locked(role, isWrongPassphrase: true)
      }
      return seed
    }
  }

  /// The bytes of a key file: in the open without a passphrase, else under it.
  static func bytes(
    _ seed: borrowing SecretBytes, of role: Role, in group: GroupID, signer: [UInt8],
    passphrase: borrowing SecretBytes?, cost: PassphraseCost
  ) throws(CredentialError) -> SecretBytes {
    let salt = Sodium.randomBytes(Sodium.saltBytes)
    let key = try key(passphrase, salt, cost)
    var writer = ByteWriter()
    writer.header(Format.keyMagic)
    writer.integer(key == nil ? Kind.open : Kind.locked)
    writer.text(role.rawValue)
    writer.text(group.description)
    writer.raw(signer)
    guard let key else { return try SecretBytes.joining(writer.bytes, seed) }
    let nonce = Sodium.randomBytes(Sodium.nonceBytes)
    writer.integer(cost.operations)
    writer.integer(cost.memoryBytes)
    writer.raw(salt)
    writer.raw(nonce)
    writer.raw(try key.encrypt(seed, nonce: nonce, context: writer.bytes))
    return try SecretBytes(copying: writer.bytes)
  }

  private static func key(
    _ passphrase: borrowing SecretBytes?, _ salt: [UInt8], _ cost: PassphraseCost
  ) throws(CredentialError) -> DataKey? {
    switch passphrase {
    case .some(let passphrase): try DataKey.derived(from: passphrase, salt: salt, cost: cost)
    case .none: nil
    }
  }
}
