import AppGroup
import Platform

/// The protection of a role's key.
public enum KeySource: ~Copyable, Sendable {
  /// In an unprotected file: only the file's permissions protect the key at rest.
  case file
  /// In a file that is encrypted with a passphrase.
  case passphrase(SecretBytes)
  /// In a file that only the host can open. The host hands the key over (``HandOver``).
  case handOver
  /// Not in the store, but in a credential of a systemd service (systemd.exec(5)).
  case systemd
}

/// A role's secret key as a file. It also has the public key that must verify the index, so that
/// nobody can replace the whole store by another one.
struct KeyFile: ~Copyable {
  let role: Role
  let group: String
  /// The public key that verifies the index.
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
    // Everything except an unprotected seed. Files of other kinds have no secret in the open.
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

  /// The role's secret bytes. If the key has a passphrase and none is given, it must be unlocked.
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

  /// Whether the file is enough to use the key.
  var isOpen: Bool {
    switch content {
    case .open: true
    default: false
    }
  }

  /// The name in the kernel's keyring while the key is unlocked; nil if it has no passphrase.
  var unlockedName: String? {
    switch content {
    case .locked(_, let salt, _, _, _): UnlockedKey.name(role, in: group, salt: salt)
    default: nil
    }
  }

  /// The role's secret bytes, opened by the host, which can also open keys for hand-over.
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
  ///   - hostKey: the host's public X25519 key, for ``KeySource/handOver``.
  ///   - cost: the cost of guessing a passphrase; nil calibrates it on this machine.
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
