import Platform
import Synchronization

/// The leases of a session, as the child holds them. They are wiped when either side ends it.
final class Session: Sendable {
  private let memory: HandedMemory
  private let names: Set<CredentialName>
  private let leases: Mutex<[CredentialName: Lease]>

  init(_ memory: consuming HandedMemory, leases: [CredentialName: Lease]) {
    self.memory = memory
    names = Set(leases.keys)
    self.leases = Mutex(leases)
  }

  /// The lease of a name; nil if there was never one.
  func lease(_ name: CredentialName) throws(CredentialError) -> Lease? {
    guard names.contains(name) else { return nil }
    guard let lease = current()[name] else { throw .sessionEnded(name) }
    return lease
  }

  /// All leases; none once the session has ended.
  func current() -> [CredentialName: Lease] {
    // The parent says so in the memory that both share. Read once: it may change at any moment.
    if memory.word == HandOver.Turn.ended { end() }
    return leases.withLock { $0 }
  }

  func end() { leases.withLock { $0 = [:] } }
}
