import Platform
import Synchronization

/// The leases of a session in the child. They are wiped when either side ends the session.
final class Session: Sendable {
  private let memory: HandedMemory
  private let names: Set<CredentialName>
  private let leases: Mutex<[CredentialName: CredentialLease]>

  init(_ memory: consuming HandedMemory, leases: [CredentialName: CredentialLease]) {
    self.memory = memory
    names = Set(leases.keys)
    self.leases = Mutex(leases)
  }

  /// The lease of a name; nil if there never was one.
  func lease(_ name: CredentialName) throws(CredentialError) -> CredentialLease? {
    guard names.contains(name) else { return nil }
    guard let lease = current()[name] else { throw .sessionEnded(name) }
    return lease
  }

  /// All leases; empty after the session has ended.
  func current() -> [CredentialName: CredentialLease] {
    // The parent sets the word in memory that both share. It is read once, because it may change.
    if memory.word == HandOver.Turn.ended { end() }
    return leases.withLock { $0 }
  }

  func end() { leases.withLock { $0 = [:] } }
}
