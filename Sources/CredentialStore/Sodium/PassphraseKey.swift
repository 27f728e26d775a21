import CSodium

/// How hard a passphrase is to guess: the parameters of Argon2id, as a key file stores them.
struct PassphraseCost: Hashable {
  var operations: UInt64
  var memoryBytes: UInt64

  /// libsodium's “moderate”: about a second and 256 MiB.
  static let moderate = PassphraseCost(
    operations: UInt64(crypto_pwhash_OPSLIMIT_MODERATE),
    memoryBytes: UInt64(crypto_pwhash_MEMLIMIT_MODERATE))
  /// libsodium's “interactive”: a tenth of a second and 64 MiB; for tests.
  static let interactive = PassphraseCost(
    operations: UInt64(crypto_pwhash_OPSLIMIT_INTERACTIVE),
    memoryBytes: UInt64(crypto_pwhash_MEMLIMIT_INTERACTIVE))

  /// What a file may ask for: not so little that guessing is cheap, nor so much that opening it
  /// takes the machine down.
  var isReasonable: Bool {
    (Self.interactive.operations...16).contains(operations)
      && (Self.interactive.memoryBytes...(1 << 30)).contains(memoryBytes)
  }
}

extension DataKey {
  /// The key that a passphrase and a salt make (Argon2id).
  static func derived(
    from passphrase: borrowing SecretBytes, salt: [UInt8], cost: PassphraseCost
  ) throws(CredentialError) -> DataKey {
    precondition(salt.count == Sodium.saltBytes && cost.isReasonable, "an unchecked key file")
    // SAFETY: the passphrase is passed with its length; the salt has that of the algorithm.
    let key = try unsafe SecretBytes(byteCount: Sodium.dataKeyBytes) { target in
      unsafe passphrase.withPointer { source in
        // Characters are bytes: the pointer is only looked at as the other type.
        unsafe source.withMemoryRebound(to: CChar.self, capacity: passphrase.byteCount) {
          unsafe crypto_pwhash(
            target, UInt64(Sodium.dataKeyBytes), $0,
            UInt64(passphrase.byteCount), salt, cost.operations, Int(cost.memoryBytes),
            crypto_pwhash_ALG_ARGON2ID13)
        }
      }
    }
    guard let key else {
      throw .system("there are no \(cost.memoryBytes >> 20) MiB of memory for the passphrase")
    }
    return DataKey(secret: key)
  }
}
