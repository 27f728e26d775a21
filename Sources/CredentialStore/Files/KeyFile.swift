import AppGroup

/// Where a role's key is kept.
public enum KeySource: ~Copyable, Sendable {
  /// In a file in the open, which protects at rest only as far as the file's permissions go.
  case file
  /// In a file under a passphrase.
  case passphrase(SecretBytes)
  /// In a file that the host alone can open; the role gets it handed over (``HandOver``).
  case handOver
  /// Nowhere in the store: in a credential that systemd gives to a service (systemd.exec(5)).
  case systemd
}

/// A role's secret key as a file, which also says whose signature the index must bear, so that
/// nobody can put a whole store of their own in place.
struct KeyFile: ~Copyable {
  let role: Role
  let group: String
  /// The public key that the index is signed with.
  let signer: [UInt8]
  private let content: Content

  private enum Content: ~Copyable {
    case open(SecretBytes)
    case locked(PassphraseCost, salt: [UInt8], nonce: [UInt8], context: [UInt8], sealed: [UInt8])
    case handOver(sealed: [UInt8])
    case systemd
  }

  private enum Kind {
    static let open: UInt8 = 1
    static let locked: UInt8 = 2
    static let handOver: UInt8 = 3
    static let systemd: UInt8 = 4
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
    // All but the seed, if it is in the open; a file of another kind holds no secret as it is.
    var parser = ByteParser(file.openPrefix(dropping: RoleKeys.seedBytes))
    try parser.header(Format.keyMagic)
    let kind = try parser.integer(UInt8.self)
    if kind != Kind.open {
      parser = ByteParser(file.openPrefix(dropping: 0))
      _ = try parser.raw(kindEnd)
    }
    let role = try parser.role()
    let group = try parser.text(atMost: GroupID.maximumBytes)
    let signer = try parser.raw(Sodium.publicKeyBytes)
    let content: Content
    switch kind {
    case Kind.open: content = .open(try file.suffix(RoleKeys.seedBytes))
    case Kind.locked:
      let cost = PassphraseCost(
        operations: try parser.integer(UInt64.self), memoryBytes: try parser.integer(UInt64.self))
      guard cost.isReasonable else { throw FormatError.wrong }
      let salt = try parser.raw(Sodium.saltBytes)
      let nonce = try parser.raw(Sodium.nonceBytes)
      let context = Array(parser.consumed)
      content = .locked(
        cost, salt: salt, nonce: nonce, context: context, sealed: try parser.raw(sealedBytes))
    case Kind.handOver: content = .handOver(sealed: try parser.raw(Sodium.sealedKeyBytes))
    case Kind.systemd: content = .systemd
    default: throw FormatError.newer
    }
    guard parser.isAtEnd else { throw FormatError.wrong }
    return KeyFile(role: role, group: group, signer: signer, content: content)
  }

  /// Magic, version and kind.
  private static let kindEnd = 13
  /// A padded seed and the tag.
  private static let sealedBytes = DataKey.blockBytes + Sodium.tagBytes

  /// The role's secret bytes: without its passphrase, if it has one, only while it is unlocked.
  borrowing func seed(
    passphrase: borrowing SecretBytes?
  ) throws(CredentialError) -> SecretBytes {
    switch content {
    case .open(let seed): return try seed.suffix(RoleKeys.seedBytes)
    case .locked(let cost, let salt, let nonce, let context, let sealed):
      guard let key = try Self.key(passphrase, salt, cost) else {
        let name = UnlockedKey.name(role, in: group, salt: salt)
        if let seed = try UnlockedKey.seed(named: name) { return seed }
        throw .locked(role, isWrongPassphrase: false)
      }
      let seed = try key.decrypt(sealed, nonce: nonce, context: context)
      guard let seed, seed.byteCount == RoleKeys.seedBytes else {
        throw .locked(role, isWrongPassphrase: true)
      }
      return seed
    case .handOver:
      throw .keyElsewhere(role, .handOver)
    case .systemd:
      throw .keyElsewhere(role, .systemd)
    }
  }

  /// Whether whoever reads the file has the key.
  var isOpen: Bool {
    switch content {
    case .open: true
    default: false
    }
  }

  /// What the kernel calls its key while it is unlocked; nil if no passphrase locks it.
  var unlockedName: String? {
    switch content {
    case .locked(_, let salt, _, _, _): UnlockedKey.name(role, in: group, salt: salt)
    default: nil
    }
  }

  /// The role's secret bytes as the host has them, which can open those that are handed over.
  borrowing func seed(
    host: borrowing OpeningKey, passphrase: borrowing SecretBytes?
  ) throws(CredentialError) -> SecretBytes {
    switch content {
    case .handOver(let sealed):
      guard let seed = try host.open(sealed) else {
        throw .tampered("the key file of the role \(role)")
      }
      return seed
    default: return try seed(passphrase: passphrase)
    }
  }

  /// The bytes of a key file.
  /// - Parameters:
  ///   - hostKey: the X25519 key of the host, for what is handed over.
  ///   - cost: of guessing a passphrase; nil chooses it by what this machine can do.
  static func bytes(
    _ seed: borrowing SecretBytes, of role: Role, in group: GroupID, signer: [UInt8],
    source: borrowing KeySource, hostKey: [UInt8], cost: PassphraseCost? = nil
  ) throws(CredentialError) -> SecretBytes {
    func writer(_ kind: UInt8) -> ByteWriter {
      var writer = ByteWriter()
      writer.header(Format.keyMagic)
      writer.integer(kind)
      writer.text(role.rawValue)
      writer.text(group.description)
      writer.raw(signer)
      return writer
    }
    switch source {
    case .file: return try SecretBytes.joining(writer(Kind.open).bytes, seed)
    case .systemd: return try SecretBytes(copying: writer(Kind.systemd).bytes)
    case .handOver:
      let sealed = try DataKey(secret: seed.copy()).sealed(for: hostKey)
      return try SecretBytes(copying: writer(Kind.handOver).bytes + sealed)
    case .passphrase(let passphrase):
      let cost = if let cost { cost } else { try PassphraseCost.calibrated() }
      let (salt, nonce) = (
        Sodium.randomBytes(Sodium.saltBytes), Sodium.randomBytes(Sodium.nonceBytes)
      )
      let key = try DataKey.derived(from: passphrase, salt: salt, cost: cost)
      var writer = writer(Kind.locked)
      writer.integer(cost.operations)
      writer.integer(cost.memoryBytes)
      writer.raw(salt)
      writer.raw(nonce)
      writer.raw(try key.encrypt(seed, nonce: nonce, context: writer.bytes))
      return try SecretBytes(copying: writer.bytes)
    }
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
