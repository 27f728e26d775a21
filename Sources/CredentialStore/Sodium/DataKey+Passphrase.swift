import CSodium
import Platform

/// The cost of guessing a passphrase: the parameters of Argon2id, as stored in a key file.
struct PassphraseCost: Hashable {
  var operations: UInt64
  var memoryBytes: UInt64

  /// libsodium's “interactive” cost, about a tenth of a second and 64 MiB: the lowest accepted.
  static let interactive = PassphraseCost(
    operations: UInt64(crypto_pwhash_OPSLIMIT_INTERACTIVE),
    memoryBytes: UInt64(crypto_pwhash_MEMLIMIT_INTERACTIVE))

  /// A cost of about half a second of processor time on this machine: acceptable to a user, and
  /// paid for each guess. The time of Argon2id is proportional to passes times memory, so one short
  /// run is enough. It measures processor time, so that a busy machine does not choose a low cost.
  static func calibrated() throws(CredentialError) -> PassphraseCost {
    let salt = Sodium.randomBytes(Sodium.saltBytes)
    let trial = try SecretBytes.random(byteCount: 16)
    let startNs = threadProcessorTimeNs()
    _ = try DataKey.derived(from: trial, salt: salt, cost: .interactive)
    return fitting(
      trialNs: threadProcessorTimeNs() - startNs, machineBytes: physicalMemoryBytes())
  }

  /// - Parameter trialNs: the measured time of ``interactive``.
  static func fitting(trialNs: UInt64, machineBytes: UInt64) -> PassphraseCost {
    let targetNs: UInt64 = 500_000_000
    var cost = PassphraseCost(
      operations: interactive.operations, memoryBytes: interactive.memoryBytes)
    func timeNs() -> UInt64 {
      // The measured time is limited, in case the clock stands still or jumps.
      let passNs = min(max(trialNs, 1_000_000), targetNs) / interactive.operations
      return passNs * cost.operations * (cost.memoryBytes / interactive.memoryBytes)
    }
    // Memory is raised first, because it makes guessing with special hardware expensive; but only
    // to a sixteenth of the machine's memory, and to at most 256 MiB.
    while timeNs() * 2 <= targetNs, cost.memoryBytes < 256 << 20,
      cost.memoryBytes * 16 <= machineBytes
    {
      cost.memoryBytes *= 2
    }
    while timeNs() < targetNs, cost.operations < maximumOperations { cost.operations += 1 }
    return cost
  }

  private static let maximumOperations: UInt64 = 16

  /// Whether a file may request this cost: high enough that guessing is expensive, and low enough
  /// that opening the file does not exhaust the machine.
  var isReasonable: Bool {
    (Self.interactive.operations...Self.maximumOperations).contains(operations)
      && (Self.interactive.memoryBytes...(1 << 30)).contains(memoryBytes)
  }
}

extension DataKey {
  /// The key derived from a passphrase and a salt (Argon2id).
  static func derived(
    from passphrase: borrowing SecretBytes, salt: [UInt8], cost: PassphraseCost
  ) throws(CredentialError) -> DataKey {
    precondition(salt.count == Sodium.saltBytes && cost.isReasonable, "an unchecked key file")
    // SAFETY: the passphrase is passed with its length; the salt has that of the algorithm.
    let key = try unsafe SecretBytes(byteCount: Sodium.dataKeyBytes) { target in
      unsafe passphrase.withPointer { source in
        // Both types are bytes, so the memory may be rebound.
        unsafe source.withMemoryRebound(to: CChar.self, capacity: passphrase.byteCount) {
          unsafe crypto_pwhash(
            target, UInt64(Sodium.dataKeyBytes), $0,
            UInt64(passphrase.byteCount), salt, cost.operations, Int(cost.memoryBytes),
            crypto_pwhash_ALG_ARGON2ID13)
        }
      }
    }
    guard let key else {
      throw .system("out of memory: the passphrase needs \(cost.memoryBytes >> 20) MiB")
    }
    return DataKey(secret: key)
  }
}
