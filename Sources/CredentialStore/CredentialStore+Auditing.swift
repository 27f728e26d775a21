import AppGroup
import Platform

/// The audit logs of roles.
extension CredentialStore {
  /// Reads and verifies the log of a role. The host can read every log, another role only its own.
  public func auditLog(of role: Role) throws(CredentialError) -> [AuditRecord] {
    guard let keys = try head().roles[role] else { return [] }
    let file = try files.openAuditLog(of: role)
    return try AuditLog.verified(
      file, key: keys.signing, path: files.audit.path(of: StoreFiles.auditName(of: role)))
  }

  func log(
    _ verb: AuditRecord.Verb, _ outcome: AuditRecord.Outcome, _ name: CredentialName?,
    generation: UInt64
  ) throws(CredentialError) {
    var generation = generation
    while true {
      do throws(CredentialError) {
        return try append(verb, outcome, name, generation: generation)
      } catch {
        guard case .rolledBack(_, let seen) = error else { throw error }
        // Another process of the role may have seen a newer state since this one read the index.
        let now = try head().generation
        guard now >= seen, now > generation else { throw error }
        generation = now
      }
    }
  }

  private func append(
    _ verb: AuditRecord.Verb, _ outcome: AuditRecord.Outcome, _ name: CredentialName?,
    generation: UInt64
  ) throws(CredentialError) {
    var file = try files.openAuditLog(of: role)
    let last = try AuditLog.append(
      verb, outcome, name, generation: generation, to: &file, keys: keys,
      path: files.audit.path(of: StoreFiles.auditName(of: role)),
      known: lastRecord.withLock { $0 })
    lastRecord.withLock { $0 = last }
  }

  /// Refuses a state of the store that is older than one that the role has seen.
  func requireNewest(_ generation: UInt64) throws(CredentialError) {
    let file = try files.openAuditLog(of: role)
    try AuditLog.requireNewest(
      generation, in: file, key: keys.signing.publicKey,
      path: files.audit.path(of: StoreFiles.auditName(of: role)),
      known: lastRecord.withLock { $0 })
  }
}

extension AuditRecord.Outcome {
  /// The outcome to record for an error; nil if the error is unrelated to access.
  init?(_ error: CredentialError) {
    switch error {
    case .expired: self = .expired
    case .notEntitled: self = .notEntitled
    case .tampered, .unusableExport: self = .tampered
    default: return nil
    }
  }
}
