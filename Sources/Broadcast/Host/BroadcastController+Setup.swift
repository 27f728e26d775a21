import CredentialStore

/// What a host passes to its extension, for the next host of the session.
extension BroadcastController {
  /// Only the group's owner can seal, and open what is sealed.
  package func requireOwner(toPassOn request: BroadcastRequest) throws(BroadcastError) {
    if request.setup.isEmpty { return }
    try group.requireOwner("pass a title, values or credentials to an extension")
  }

  func seal(
    _ request: BroadcastRequest, for session: SessionID
  ) throws(BroadcastError) {
    if request.setup.isEmpty { return }
    do throws(CredentialError) {
      try request.setup.seal(for: session, in: store(of: request))
    } catch { throw .credentials(error) }
  }

  /// What the extension of a running session receives. The names in the record, which any member
  /// can write, only tell whether there should be something.
  /// - Returns: nil if nothing is passed on.
  func runningSetup(
    _ record: BroadcastRecord, for request: BroadcastRequest
  ) throws(BroadcastError) -> SessionSetup? {
    let names = record.options.setupNames
    do throws(CredentialError) {
      if try CredentialStore.exists(in: group) {
        let found = try SessionSetup.read(of: record.session, in: store(of: request))
        if found != nil || names.isEmpty { return found }
      }
    } catch {
      // Such as a store with a passphrase, which the session did not need.
      if names.isEmpty { return nil }
      throw .setupLost(record.session, why: "\(error)")
    }
    if names.isEmpty { return nil }
    throw .setupLost(record.session, why: "the store has no credential for it")
  }

  /// The store that the request has, or else the group's, which is created if it has none.
  private func store(of request: BroadcastRequest) throws(CredentialError) -> CredentialStore {
    if let store = request.credentials { return store }
    guard try CredentialStore.exists(in: group) else {
      return try CredentialStore.create(in: group)
    }
    return try CredentialStore.open(in: group, as: .host)
  }
}
