import CLinuxShims
import Glibc
import Synchronization

/// A semaphore of several processes (`sem_overview(7)`) alone in a memory file, which one process
/// posts and another waits for.
///
/// Both can write all of it, so neither believes it: the poster never waits, and a post that would
/// overflow is left out; the waiter takes a wake-up for no more than a reason to look. Its word is
/// used as glibc uses it, but not by glibc: `sem_post(3)` and `sem_wait(3)` take from the `sem_t`
/// how to call the kernel, and abort the process where a peer wrote nonsense there.
@safe package final class WakeSemaphore: @unchecked Sendable {  // because its word is atomic
  private static let byteCount = 4096
  /// The count is the word's low half; the high half says how many wait.
  private static let oneWaiter: UInt64 = 1 << 32

  private let file: MemoryFile
  private let mapping: Mapping

  /// Makes a semaphore of its own.
  package init() throws(SystemError) {
    file = try MemoryFile(named: "framebus-semaphore", byteCount: Self.byteCount)
    mapping = try Mapping(file, .readAndWrite)
    try file.add(.size)
    // SAFETY: the mapping lives as long as self and is larger than a sem_t.
    guard unsafe linux_semaphore_init(mapping.base, 0) == 0 else { throw .last("sem_init") }
  }

  /// Maps the semaphore that a peer has set up, if the memory is what it must be.
  package init?(received descriptor: consuming Descriptor) {
    guard let file = MemoryFile(received: descriptor, byteCount: Self.byteCount),
      let mapping = try? Mapping(file, .readAndWrite)
    else { return nil }
    self.mapping = mapping
    self.file = file
  }

  /// Once the peer has mapped it: from now on nobody maps it writably, nor punches holes into it,
  /// which would make each post fault.
  package func seal() throws(SystemError) { try file.add([.futureWrites, .seals]) }

  /// Its memory, for a peer.
  package var number: Int32 { file.descriptor.number }

  /// Lets one wait end. Never blocks, and looks at the word once, whatever a peer does to it.
  package func post() {
    // SYNC semaphore: one word holds count and waiters, so either this sees the waiter or the
    // waiter sees the count.
    let found = unsafe word.pointee.load(ordering: .acquiring)
    if Self.count(in: found) >= Self.maximumCount { return }
    let before = unsafe word.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    // SAFETY: the mapping lives as long as self.
    if before >= Self.oneWaiter { _ = unsafe wakeSleepers(on: futex, atMost: 1) }
  }

  /// Waits for a post. May return early, as when a signal came.
  package func wait(until deadline: Deadline) {
    if take() { return }
    // SYNC semaphore: announced before the kernel looks at the count.
    unsafe word.pointee.wrappingAdd(Self.oneWaiter, ordering: .sequentiallyConsistent)
    // SAFETY: as in `post`.
    unsafe sleepOnFutexes(shared: futex, expecting: 0, privates: nil, until: deadline)
    unsafe word.pointee.wrappingSubtract(Self.oneWaiter, ordering: .sequentiallyConsistent)
    _ = take()
  }

  /// Takes one from the count, unless it is 0 or somebody else changes it just now.
  private func take() -> Bool {
    // SYNC semaphore: acquire.
    let found = unsafe word.pointee.load(ordering: .acquiring)
    guard Self.count(in: found) > 0 else { return false }
    return unsafe word.pointee.compareExchange(
      expected: found, desired: found - 1, ordering: .acquiringAndReleasing
    ).exchanged
  }

  private static let maximumCount = UInt32(LINUX_SEMAPHORE_MAXIMUM)

  private static func count(in word: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: word) }

  /// SAFETY: the first word of a mapping that lives as long as self.
  private var word: UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe mapping.base.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// SAFETY: as `word`, of which it is the low half.
  private var futex: UnsafePointer<UInt32> {
    unsafe UnsafePointer(mapping.base.assumingMemoryBound(to: UInt32.self))
  }
}
