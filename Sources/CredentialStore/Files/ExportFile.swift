import AppGroup
import Platform

/// An export of credentials for another store (docs/design/sealed-file.md has the format). One data
/// key opens all of them. It is sealed for the receiving store, or derived from a passphrase. Names
/// are encrypted too.
struct ExportFile {
  let group: String
  let exportedAtSeconds: Int64
  /// The Ed25519 key of the host that exported it.
  let signer: [UInt8]
  private let lock: Lock
  private let commitment: [UInt8]
  private let context: [UInt8]
  private let entries: [Entry]

  private enum Lock {
    case store(receiver: [UInt8], sealedKey: [UInt8])
    case passphrase(PassphraseCost, salt: [UInt8])
  }

  private struct Entry {
    let nonce: [UInt8]
    let body: [UInt8]
  }

  private enum Kind {
    static let store: UInt8 = 1
    static let passphrase: UInt8 = 2
  }

  static let maximumBytes = 64 << 20

  var count: Int { entries.count }
  var isUnderPassphrase: Bool {
    if case .passphrase = lock { true } else { false }
  }

  // MARK: Reading

  /// Parses a file, and checks that it is complete and signed by the key that it names. Anybody can
  /// create such a file; the caller decides whether to trust the signer.
  init(parsing bytes: [UInt8]) throws(FormatError) {
    var parser = ByteParser(bytes)
    try parser.header(Format.exportMagic)
    let kind = try parser.integer(UInt8.self)
    group = try parser.text(atMost: GroupID.maximumBytes)
    exportedAtSeconds = try parser.integer(Int64.self)
    signer = try parser.raw(Sodium.publicKeyBytes)
    let signedCount = bytes.count - Sodium.signatureBytes
    guard signedCount > parser.position,
      Sodium.isSigned(
        bytes[..<signedCount], domain: .export, signature: Array(bytes[signedCount...]),
        by: signer)
    else { throw .wrong }
    lock = try Self.lock(kind, &parser)
    commitment = try parser.raw(Sodium.hashBytes)
    let count = Int(try parser.integer(UInt32.self))
    guard (1...Format.maximumItems).contains(count) else { throw .wrong }
    context = Array(parser.consumed)
    var entries: [Entry] = []
    for _ in 0..<count {
      let nonce = try parser.raw(Sodium.nonceBytes)
      let byteCount = Int(try parser.integer(UInt32.self))
      guard byteCount <= Format.maximumItemBytes else { throw .wrong }
      entries.append(Entry(nonce: nonce, body: try parser.raw(byteCount)))
    }
    guard parser.position == signedCount else { throw .wrong }
    self.entries = entries
  }

  private static func lock(_ kind: UInt8, _ parser: inout ByteParser) throws(FormatError) -> Lock {
    switch kind {
    case Kind.store:
      let receiver = try parser.raw(Sodium.publicKeyBytes)
      return .store(receiver: receiver, sealedKey: try parser.raw(Sodium.sealedKeyBytes))
    case Kind.passphrase:
      let cost = PassphraseCost(
        operations: try parser.integer(UInt64.self), memoryBytes: try parser.integer(UInt64.self))
      guard cost.isReasonable else { throw .wrong }
      return .passphrase(cost, salt: try parser.raw(Sodium.saltBytes))
    default: throw .newer
    }
  }

  /// The key that opens all entries.
  func key(
    for opening: borrowing OpeningKey, passphrase: borrowing SecretBytes?
  ) throws(CredentialError) -> DataKey {
    let key: DataKey?
    let refusal: CredentialError
    switch lock {
    case .store(let receiver, let sealedKey):
      refusal = .notEntitled(
        "the file was sealed for another store; export it for this one, whose identity"
          + " `framebus credential identity` prints")
      if receiver != opening.publicKey { throw refusal }
      key = try DataKey.open(sealedKey, with: opening)
    case .passphrase(let cost, let salt):
      refusal = .notEntitled("the file's passphrase is wrong; try again")
      switch passphrase {
      case .some(let passphrase): key = try .derived(from: passphrase, salt: salt, cost: cost)
      case .none:
        throw .notEntitled(
          "the file was sealed under a passphrase; give it on a terminal or with"
            + " --file-passphrase-fd")
      }
    }
    guard let key, key.commitment() == commitment else { throw refusal }
    return key
  }

  /// Lends one entry.
  /// - Throws: ``CredentialError/unusableExport(_:)`` if the entry is malformed, which an exporter
  ///   with a valid key can still cause.
  func withEntry(
    _ number: Int, by key: borrowing DataKey,
    _ body: (CredentialAttributes, borrowing SecretBytes) throws(CredentialError) -> Void
  ) throws(CredentialError) {
    let damaged = CredentialError.unusableExport("credential \(number + 1) of the file")
    let entry = entries[number]
    let context = Self.context(context, number)
    guard let whole = try key.decrypt(entry.body, nonce: entry.nonce, context: context),
      whole.byteCount >= Self.countBytes
    else { throw damaged }
    do {
      var parser = ByteParser(whole.openPrefix(dropping: whole.byteCount - Self.countBytes))
      let byteCount = Int(try parser.integer(UInt32.self))
      let secretBytes = whole.byteCount - Self.countBytes - byteCount
      guard (1...Format.maximumSecretBytes).contains(secretBytes) else { throw FormatError.wrong }
      parser = ByteParser(whole.openPrefix(dropping: secretBytes))
      _ = try parser.integer(UInt32.self)
      let attributes = try parser.attributes()
      guard parser.isAtEnd else { throw FormatError.wrong }
      try body(attributes, try whole.suffix(secretBytes))
    } catch let error as CredentialError {
      throw error
    } catch {
      throw damaged
    }
  }

  private static let countBytes = 4

  /// The context that binds an entry to the file and to its position there.
  private static func context(_ context: [UInt8], _ number: Int) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(context)
    writer.integer(UInt32(number))
    return writer.bytes
  }

  // MARK: Writing

  /// The receiver of a new file.
  enum Receiver: ~Copyable {
    case store(StoreIdentity)
    case passphrase(Passphrase)
  }

  struct Passphrase: ~Copyable {
    let secret: SecretBytes
    let cost: PassphraseCost
  }

  /// - Parameter entry: returns each credential in turn, encoded by ``entry(_:_:)``.
  static func bytes(
    of count: Int, from group: GroupID, for receiver: borrowing Receiver,
    signing: borrowing SigningKey,
    entry: (Int) throws(CredentialError) -> SecretBytes
  ) throws(CredentialError) -> [UInt8] {
    var writer = ByteWriter()
    let key = try begin(&writer, group, receiver, signer: signing.publicKey)
    writer.raw(key.commitment())
    writer.integer(UInt32(count))
    let context = writer.bytes
    for number in 0..<count {
      let nonce = Sodium.randomBytes(Sodium.nonceBytes)
      let body = try key.encrypt(
        try entry(number), nonce: nonce, context: Self.context(context, number))
      writer.raw(nonce)
      writer.integer(UInt32(body.count))
      writer.raw(body)
    }
    writer.raw(signing.signature(of: writer.bytes, domain: .export))
    return writer.bytes
  }

  /// Encodes one credential for encryption.
  static func entry(
    _ attributes: CredentialAttributes, _ secret: borrowing SecretBytes
  ) throws(CredentialError) -> SecretBytes {
    var fields = ByteWriter()
    fields.attributes(attributes)
    var writer = ByteWriter()
    writer.integer(UInt32(fields.bytes.count))
    writer.raw(fields.bytes)
    return try SecretBytes.joining(writer.bytes, secret)
  }

  /// Writes the fields up to the commitment.
  /// - Returns: the data key.
  private static func begin(
    _ writer: inout ByteWriter, _ group: GroupID, _ receiver: borrowing Receiver, signer: [UInt8]
  ) throws(CredentialError) -> DataKey {
    func head(_ kind: UInt8) {
      writer.header(Format.exportMagic)
      writer.integer(kind)
      writer.text(group.description)
      writer.integer(wallNowSeconds())
      writer.raw(signer)
    }
    switch receiver {
    case .store(let identity):
      head(Kind.store)
      let key = try DataKey.make()
      writer.raw(identity.opening)
      writer.raw(try key.sealed(for: identity.opening))
      return key
    case .passphrase(let passphrase):
      head(Kind.passphrase)
      let salt = Sodium.randomBytes(Sodium.saltBytes)
      writer.integer(passphrase.cost.operations)
      writer.integer(passphrase.cost.memoryBytes)
      writer.raw(salt)
      return try DataKey.derived(from: passphrase.secret, salt: salt, cost: passphrase.cost)
    }
  }
}
