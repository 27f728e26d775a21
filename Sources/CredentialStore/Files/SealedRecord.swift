import AppGroup
import Platform

/// One credential's file (docs/design/sealed-file.md has the format). All bytes before the sealed
/// keys are the context with which the body is encrypted. All bytes before the signature are
/// signed.
struct SealedRecord {
  let group: String
  let attributes: CredentialAttributes
  let writerKey: [UInt8]
  /// The public keys of the recipients, in their order.
  let recipientKeys: [[UInt8]]
  private let commitment: [UInt8]
  private let nonce: [UInt8]
  private let context: [UInt8]
  private let sealedKeys: [[UInt8]]
  private let body: [UInt8]

  /// Seals a secret with a new data key.
  static func seal(
    _ secret: borrowing SecretBytes, _ attributes: CredentialAttributes, in group: GroupID,
    recipientKeys: [[UInt8]], signing: borrowing SigningKey
  ) throws(CredentialError) -> [UInt8] {
    precondition(recipientKeys.count == attributes.recipients.count, "a key for each recipient")
    let key = try DataKey.make()
    let nonce = Sodium.randomBytes(Sodium.nonceBytes)
    var writer = ByteWriter()
    writer.header(Format.itemMagic)
    writer.text(group.description)
    writer.attributes(attributes)
    writer.raw(signing.publicKey)
    for key in recipientKeys { writer.raw(key) }
    writer.raw(key.commitment())
    writer.raw(nonce)
    let context = writer.bytes
    for recipient in recipientKeys { writer.raw(try key.sealed(for: recipient)) }
    let body = try key.encrypt(secret, nonce: nonce, context: context)
    writer.integer(UInt32(body.count))
    writer.raw(body)
    writer.raw(signing.signature(of: writer.bytes, domain: .item))
    return writer.bytes
  }

  /// Parses a file, and checks that it is complete and signed. The caller must check that the
  /// signer is a writer of the store.
  init(parsing bytes: [UInt8]) throws(FormatError) {
    var parser = ByteParser(bytes)
    try parser.header(Format.itemMagic)
    group = try parser.text(atMost: GroupID.maximumBytes)
    attributes = try parser.attributes()
    writerKey = try parser.raw(Sodium.publicKeyBytes)
    let count = attributes.recipients.count
    recipientKeys = try Self.list(count, of: Sodium.publicKeyBytes, &parser)
    commitment = try parser.raw(Sodium.hashBytes)
    nonce = try parser.raw(Sodium.nonceBytes)
    context = Array(parser.consumed)
    sealedKeys = try Self.list(count, of: Sodium.sealedKeyBytes, &parser)
    body = try parser.raw(Int(try parser.integer(UInt32.self)))
    let signed = parser.consumed
    let signature = try parser.raw(Sodium.signatureBytes)
    guard parser.isAtEnd,
      Sodium.isSigned(signed, domain: .item, signature: signature, by: writerKey)
    else { throw .wrong }
  }

  private static func list(
    _ count: Int, of byteCount: Int, _ parser: inout ByteParser
  ) throws(FormatError) -> [[UInt8]] {
    var list: [[UInt8]] = []
    for _ in 0..<count { list.append(try parser.raw(byteCount)) }
    return list
  }

  /// Opens the credential for one of its recipients.
  /// - Returns: nil if it was not sealed for this key or was changed.
  func open(as role: Role, with key: borrowing OpeningKey) throws(CredentialError) -> SecretBytes? {
    guard let recipient = attributes.recipients.firstIndex(of: role) else { return nil }
    return try DataKey.decrypt(
      body, nonce: nonce, context: context, by: sealedKeys[recipient], committedTo: commitment,
      with: key)
  }
}
