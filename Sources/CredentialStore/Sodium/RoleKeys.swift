import CSodium

/// The keys of one role, all derived from its 32 secret bytes: an X25519 pair for opening, an
/// Ed25519 pair for signing, and for the host an Ed25519 pair that signs the index.
struct RoleKeys: ~Copyable {
  let opening: OpeningKey
  let signing: SigningKey
  let indexSigning: SigningKey

  static let seedBytes = 32

  init(seed: borrowing SecretBytes) throws(CredentialError) {
    let opening = try OpeningKey(seed: Self.derived(1, from: seed))
    let signing = try SigningKey(seed: Self.derived(2, from: seed))
    let indexSigning = try SigningKey(seed: Self.derived(3, from: seed))
    self.opening = opening
    self.signing = signing
    self.indexSigning = indexSigning
  }

  /// `crypto_kdf_derive_from_key` with the context `FBcredkd`.
  private static func derived(
    _ number: UInt64, from seed: borrowing SecretBytes
  ) throws(CredentialError) -> SecretBytes {
    precondition(seed.byteCount == seedBytes, "a seed of \(seed.byteCount) bytes")
    // SAFETY: the seed has the length of a key of crypto_kdf, as checked; the context has its 8
    // bytes and a zero.
    let key = try unsafe SecretBytes(byteCount: seedBytes) { target throws(CredentialError) in
      unsafe seed.withPointer { source in
        unsafe crypto_kdf_derive_from_key(
          target, seedBytes, number,
          "FBcredkd", source)
      }
    }
    guard let key else { throw .system("libsodium derived no key") }
    return key
  }
}

/// An X25519 pair.
struct OpeningKey: ~Copyable {
  private let secret: SecretBytes
  let publicKey: [UInt8]

  init(seed: borrowing SecretBytes) throws(CredentialError) {
    var publicKey: [UInt8] = Array(repeating: 0, count: Sodium.publicKeyBytes)
    // SAFETY: seed, public and secret key have 32 bytes each.
    let secret = try unsafe SecretBytes(byteCount: Int(crypto_box_SECRETKEYBYTES)) { target in
      unsafe seed.withPointer { source in
        unsafe crypto_box_seed_keypair(
          &publicKey, target, source)
      }
    }
    guard let secret else { throw .system("libsodium made no key pair") }
    self.secret = secret
    self.publicKey = publicKey
  }

  /// Opens a key that was sealed for this pair, into new memory.
  /// - Returns: nil if it was not sealed for this pair or was changed.
  borrowing func open(_ sealed: [UInt8]) throws(CredentialError) -> SecretBytes? {
    // SAFETY: the memory has a key's length.
    try unsafe SecretBytes(byteCount: Sodium.dataKeyBytes) { target in
      unsafe open(sealed, into: target) ? 0 : -1
    }
  }

  /// Opens a data key that was sealed for this pair.
  /// - Parameter target: SAFETY: has room for a data key.
  /// - Returns: false if it was not sealed for this pair or was changed.
  @unsafe borrowing func open(
    _ sealed: [UInt8], into target: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    guard sealed.count == Sodium.sealedKeyBytes else { return false }
    // SAFETY: the sealed key has its length, as checked, and the target is shorter by what sealing
    // adds.
    return unsafe secret.withPointer { key in
      unsafe crypto_box_seal_open(target, sealed, UInt64(sealed.count), publicKey, key) == 0
    }
  }
}

/// An Ed25519 pair.
struct SigningKey: ~Copyable {
  private let secret: SecretBytes
  let publicKey: [UInt8]

  init(seed: borrowing SecretBytes) throws(CredentialError) {
    var publicKey: [UInt8] = Array(repeating: 0, count: Sodium.publicKeyBytes)
    // SAFETY: the seed has 32 bytes, the public key 32, and the secret one 64.
    let secret = try unsafe SecretBytes(byteCount: Int(crypto_sign_SECRETKEYBYTES)) { target in
      unsafe seed.withPointer { source in
        unsafe crypto_sign_seed_keypair(
          &publicKey, target, source)
      }
    }
    guard let secret else { throw .system("libsodium made no key pair") }
    self.secret = secret
    self.publicKey = publicKey
  }

  borrowing func signature(of bytes: [UInt8], domain: Sodium.Domain) -> [UInt8] {
    let message = domain.bytes + bytes
    var signature: [UInt8] = Array(repeating: 0, count: Sodium.signatureBytes)
    // SAFETY: the arrays are passed with their own lengths; the signature has that of the
    // algorithm.
    _ = unsafe secret.withPointer { key in
      unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), key)
    }
    return signature
  }
}
