import CSodium

/// The initialization of libsodium, and its calls that need no secret. libsodium does all
/// cryptography; only this folder calls it.
enum Sodium {
  private static let isStarted = sodium_init() >= 0

  static func start() throws(CredentialError) {
    if !isStarted { throw .system("libsodium found no source of randomness") }
  }

  static let hashBytes = 32
  static let signatureBytes = Int(crypto_sign_BYTES)
  static let publicKeyBytes = 32
  static let sealedKeyBytes = crypto_box_sealbytes() + dataKeyBytes
  static let dataKeyBytes = Int(crypto_aead_xchacha20poly1305_ietf_KEYBYTES)
  static let nonceBytes = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
  static let tagBytes = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)
  static let saltBytes = Int(crypto_pwhash_SALTBYTES)

  static func randomBytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = Array(repeating: 0, count: count)
    // SAFETY: the call writes exactly the array's length.
    unsafe randombytes_buf(&bytes, count)
    return bytes
  }

  /// BLAKE2b with 32 bytes.
  static func hash(_ bytes: [UInt8]) -> [UInt8] { hash(bytes[...]) }

  static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digest: [UInt8] = Array(repeating: 0, count: hashBytes)
    // SAFETY: both are passed with their own lengths.
    unsafe bytes.withUnsafeBufferPointer {
      _ = unsafe crypto_generichash(
        &digest, hashBytes, $0.baseAddress, UInt64($0.count), nil, 0)
    }
    return digest
  }

  /// Verifies an Ed25519 signature of a domain followed by the bytes.
  static func isSigned(
    _ bytes: ArraySlice<UInt8>, domain: Domain, signature: [UInt8], by key: [UInt8]
  ) -> Bool {
    guard signature.count == signatureBytes, key.count == publicKeyBytes else { return false }
    let message = domain.bytes + bytes
    // SAFETY: the arrays are passed with their own lengths; signature and key have those of the
    // algorithm, as checked.
    return unsafe crypto_sign_verify_detached(
      signature, message, UInt64(message.count), key) == 0
  }

  /// The purpose of a signature, so that it is not accepted for another one.
  enum Domain: String {
    case item = "framebus-credential-v1"
    case index = "framebus-credential-index-v1"
    case audit = "framebus-credential-audit-v1"
    case export = "framebus-credential-export-v1"

    var bytes: [UInt8] { Array(rawValue.utf8) }
  }
}
