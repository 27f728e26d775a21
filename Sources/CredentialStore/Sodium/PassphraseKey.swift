import CSodium
import Platform

/// How hard a passphrase is to guess: the parameters of Argon2id, as a key file stores them.
struct PassphraseCost: Hashable {
  var operations: UInt64
  var memoryBytes: UInt64

  /// libsodium's “interactive”: a tenth of a second and 64 MiB; the least that is accepted.
  static let interactive = PassphraseCost(
    operations: UInt64(crypto_pwhash_OPSLIMIT_INTERACTIVE),
    memoryBytes: UInt64(crypto_pwhash_MEMLIMIT_INTERACTIVE))

  /// What takes this machine about half a second of one processor: a wait that a person accepts
  /// and whoever guesses pays each time. Argon2id's time is that of passes times memory, so one
  /// short run tells; processor time is counted, because a busy machine shall not make it cheap.
  static func calibrated() throws(CredentialError) -> PassphraseCost {
    let salt = Sodium.randomBytes(Sodium.saltBytes)
    let trial = try SecretBytes.random(byteCount: 16)
    let startNs = threadProcessorTimeNs()
    _ = try DataKey.derived(from: trial, salt: salt, cost: .interactive)
    return fitting(
      trialNs: threadProcessorTimeNs() - startNs, machineBytes: physicalMemoryBytes())
  }

  /// - Parameter trialNs: what ``interactive`` took.
  static func fitting(trialNs: UInt64, machineBytes: UInt64) -> PassphraseCost {
    let targetNs: UInt64 = 500_000_000
    var cost = PassphraseCost(
      operations: interactive.operations, memoryBytes: interactive.memoryBytes)
    func timeNs() -> UInt64 {
      // Neither a clock that stands nor one that jumps decides.
      let passNs = min(max(trialNs, 1_000_000), targetNs) / interactive.operations
      return passNs * cost.operations * (cost.memoryBytes / interactive.memoryBytes)
    }
    // Memory first, which is what makes guessing by special machines dear; but a small part of what
    // there is, and at most 256 MiB.
    while timeNs() * 2 <= targetNs, cost.memoryBytes < 256 << 20,
      cost.memoryBytes * 16 <= machineBytes
    {
      cost.memoryBytes *= 2
    }
    while timeNs() < targetNs, cost.operations < maximumOperations { cost.operations += 1 }
    return cost
  }

  private static let maximumOperations: UInt64 = 16

  /// What a file may ask for: not so little that guessing is cheap, nor so much that opening it
  /// takes the machine down.
  var isReasonable: Bool {
    (Self.interactive.operations...Self.maximumOperations).contains(operations)
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
