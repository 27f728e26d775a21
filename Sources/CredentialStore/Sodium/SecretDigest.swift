/// Recognises a short secret that was seen before, without keeping it: Argon2id with a random salt,
/// so that each guess costs as much as one of a passphrase. The cost is fixed: a digest that
/// another process wrote cannot raise it.
package struct SecretDigest: Hashable, Sendable {
  private let salt: [UInt8]
  private let hash: [UInt8]

  /// - Complexity: a tenth of a second of processor time, and 64 MiB.
  package init(of secret: String) throws(CredentialError) {
    try Sodium.start()
    salt = Sodium.randomBytes(Sodium.saltBytes)
    hash = try Self.hash(secret, salt)
  }

  /// - Returns: nil unless the text is the ``text`` of a digest.
  package init?(_ text: String) {
    guard let bytes = bytes(ofHexadecimal: text[...]),
      bytes.count == Sodium.saltBytes + Sodium.hashBytes
    else { return nil }
    salt = Array(bytes.prefix(Sodium.saltBytes))
    hash = Array(bytes.dropFirst(Sodium.saltBytes))
  }

  /// - Complexity: as that of making one.
  package func isOf(_ secret: String) throws(CredentialError) -> Bool {
    try Self.hash(secret, salt) == hash
  }

  package var text: String { hexadecimal(salt + hash) }

  private static func hash(
    _ secret: String, _ salt: [UInt8]
  ) throws(CredentialError) -> [UInt8] {
    let bytes = try SecretBytes(copying: Array(secret.utf8))
    return try DataKey.derived(from: bytes, salt: salt, cost: .interactive).commitment()
  }
}
