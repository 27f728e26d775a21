import CSodium

/// The random key that encrypts one generation of one item.
struct DataKey: ~Copyable {
  private let secret: SecretBytes

  static func make() throws(CredentialError) -> DataKey {
    DataKey(secret: try SecretBytes.random(byteCount: Sodium.dataKeyBytes))
  }

  /// Opens a data key that was sealed for a role.
  /// - Returns: nil if it was not sealed for this key or was changed.
  static func open(
    _ sealed: [UInt8], with opening: borrowing OpeningKey
  ) throws(CredentialError) -> DataKey? {
    let key = try opening.open(sealed)
    guard let key else { return nil }
    return DataKey(secret: key)
  }

  init(secret: consuming SecretBytes) { self.secret = secret }

  /// A hash that commits to the key. Without it, one body could be crafted to open with two keys.
  borrowing func commitment() -> [UInt8] {
    // SAFETY: the key has its length.
    unsafe secret.withPointer { unsafe Self.commitment(of: $0) }
  }

  @unsafe private static func commitment(of key: UnsafePointer<UInt8>) -> [UInt8] {
    let purpose = Array("framebus-credential-commitment-v1".utf8)
    var digest: [UInt8] = Array(repeating: 0, count: Sodium.hashBytes)
    // SAFETY: the arrays and the key are passed with their own lengths.
    _ = unsafe crypto_generichash(
      &digest, digest.count, purpose, UInt64(purpose.count), key, Sodium.dataKeyBytes)
    return digest
  }

  /// Seals the data key for the holder of the secret half of a public key.
  borrowing func sealed(for publicKey: [UInt8]) throws(CredentialError) -> [UInt8] {
    precondition(publicKey.count == Sodium.publicKeyBytes, "a key of \(publicKey.count) bytes")
    var sealed: [UInt8] = Array(repeating: 0, count: Sodium.sealedKeyBytes)
    // SAFETY: the target has the key's length and what sealing adds.
    let result = unsafe secret.withPointer { key in
      unsafe crypto_box_seal(&sealed, key, UInt64(Sodium.dataKeyBytes), publicKey)
    }
    if result != 0 { throw .tampered("a recipient's public key is not valid") }
    return sealed
  }

  /// Pads the secret to a multiple of 256 bytes, to hide its length, and encrypts it.
  borrowing func encrypt(
    _ body: borrowing SecretBytes, nonce: [UInt8], context: [UInt8]
  ) throws(CredentialError) -> [UInt8] {
    let padded = try Self.padded(body)
    var sealed: [UInt8] = Array(repeating: 0, count: padded.byteCount + Sodium.tagBytes)
    // SAFETY: the target has the padded body's length and the tag's; the rest is passed with its
    // own length; the nonce has that of the algorithm.
    _ = unsafe secret.withPointer { key in
      unsafe padded.withPointer { source in
        unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
          &sealed, nil, source, UInt64(padded.byteCount), context, UInt64(context.count), nil,
          nonce, key)
      }
    }
    return sealed
  }

  /// - Returns: nil if the body, the nonce or the context was changed.
  borrowing func decrypt(
    _ sealed: [UInt8], nonce: [UInt8], context: [UInt8]
  ) throws(CredentialError) -> SecretBytes? {
    // SAFETY: both have a key's length.
    try unsafe Self.decrypt(sealed, nonce: nonce, context: context) { target in
      unsafe secret.withPointer { unsafe target.update(from: $0, count: Sodium.dataKeyBytes) }
      return true
    }
  }

  /// Opens a body with a data key that was sealed for a role.
  /// - Returns: nil if anything was changed or is not for this role.
  static func decrypt(
    _ sealed: [UInt8], nonce: [UInt8], context: [UInt8], by sealedKey: [UInt8],
    committedTo commitment: [UInt8], with opening: borrowing OpeningKey
  ) throws(CredentialError) -> SecretBytes? {
    // SAFETY: the target has room for a key, which is hashed with its length.
    try unsafe decrypt(sealed, nonce: nonce, context: context) { target in
      unsafe opening.open(sealedKey, into: target) && Self.commitment(of: target) == commitment
    }
  }

  /// Decrypts in one allocation, because guarded memory costs a dozen system calls: the body, which
  /// is unpadded in place, is followed by the key.
  /// - Parameter putKey: writes the key; returns false if it cannot be opened.
  /// SAFETY: `putKey` writes no more than a key.
  @unsafe private static func decrypt(
    _ sealed: [UInt8], nonce: [UInt8], context: [UInt8],
    putKey: (UnsafeMutablePointer<UInt8>) -> Bool
  ) throws(CredentialError) -> SecretBytes? {
    guard sealed.count >= Sodium.tagBytes + blockBytes, nonce.count == Sodium.nonceBytes
    else { return nil }
    let count = sealed.count - Sodium.tagBytes
    // SAFETY: the memory has the sealed body's length less the tag's, and after that the key's.
    return try unsafe SecretBytes(room: count + Sodium.dataKeyBytes) { target in
      let key = unsafe target + count
      defer { unsafe sodium_memzero(key, Sodium.dataKeyBytes) }
      guard unsafe putKey(key),
        unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
          target, nil, nil, sealed, UInt64(sealed.count), context, UInt64(context.count), nonce,
          key) == 0
      else { return nil }
      var length = 0
      guard unsafe sodium_unpad(&length, target, count, blockBytes) == 0 else { return nil }
      unsafe sodium_memzero(target + length, count - length)
      return length
    }
  }

  static let blockBytes = 256

  private static func padded(_ body: borrowing SecretBytes) throws(CredentialError) -> SecretBytes {
    let count = (body.byteCount / blockBytes + 1) * blockBytes
    // SAFETY: the body fits with at least one byte of padding, which is what sodium_pad needs.
    let padded = try unsafe SecretBytes(byteCount: count) { target in
      unsafe body.withPointer {
        unsafe target.update(from: $0, count: body.byteCount)
      }
      var length = 0
      return unsafe sodium_pad(
        &length, target, body.byteCount,
        blockBytes, count)
    }
    guard let padded else { throw .system("libsodium could not pad a body") }
    return padded
  }
}
