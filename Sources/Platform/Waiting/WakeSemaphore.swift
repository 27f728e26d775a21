import CLinuxShims
import Glibc
import Synchronization

/// A semaphore shared between processes (`sem_overview(7)`), in its own memory file. One process
/// posts it and another waits for it.
///
/// Both can write all of it, so neither trusts it: the poster never waits and omits a post that
/// would overflow; the waiter treats a wake-up only as a reason to poll. The word has glibc's
/// format, but glibc does not access it: `sem_post(3)` and `sem_wait(3)` read futex flags from the
/// `sem_t`, and abort the process if a peer wrote invalid ones.
@safe package final class WakeSemaphore: @unchecked Sendable {  // because its word is atomic
  private static let byteCount = 4096
  /// The count is the word's low half; the high half is the number of waiters.
  private static let oneWaiter: UInt64 = 1 << 32

  private let file: MemoryFile
  private let mapping: Mapping

  /// Creates a semaphore in a new memory file.
  package init() throws(SystemError) {
    file = try MemoryFile(named: "framebus-semaphore", byteCount: Self.byteCount)
    mapping = try Mapping(file, .readAndWrite)
    try file.add(.size)
    // SAFETY: the mapping lives as long as self and is larger than a sem_t.
    guard unsafe linux_semaphore_init(mapping.base, 0) == 0 else { throw .last("sem_init") }
  }

  /// Maps a semaphore that a peer created. Returns nil if the memory is not valid.
  package init?(received descriptor: consuming Descriptor) {
    guard let file = MemoryFile(received: descriptor, byteCount: Self.byteCount),
      let mapping = try? Mapping(file, .readAndWrite)
    else { return nil }
    self.mapping = mapping
    self.file = file
  }

  /// Seals the memory once the peer has mapped it: no process can map it writably or punch holes
  /// into it, which would make each post fault.
  package func seal() throws(SystemError) { try file.add([.futureWrites, .seals]) }

  /// The descriptor of its memory, for a peer.
  package var number: Int32 { file.descriptor.number }

  /// Ends one wait. Never blocks, and loads the word once, whatever a peer does to it.
  package func post() {
    // SYNC semaphore: one word holds count and waiters, so either this sees the waiter or the
    // waiter sees the count.
    let found = unsafe word.pointee.load(ordering: .acquiring)
    if Self.count(in: found) >= Self.maximumCount { return }
    let before = unsafe word.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    // SAFETY: the mapping lives as long as self.
    if before >= Self.oneWaiter { _ = unsafe wakeSleepers(on: futex, atMost: 1) }
  }

  /// Waits for a post. May return early, for example after a signal.
  package func wait(until deadline: Deadline) {
    if take() { return }
    // SYNC semaphore: announced before the kernel loads the count.
    unsafe word.pointee.wrappingAdd(Self.oneWaiter, ordering: .sequentiallyConsistent)
    // SAFETY: as in `post`.
    unsafe sleepOnFutexes(shared: futex, expecting: 0, privates: nil, until: deadline)
    unsafe word.pointee.wrappingSubtract(Self.oneWaiter, ordering: .sequentiallyConsistent)
    _ = take()
  }

  /// Decrements the count, unless it is 0 or another thread changes it concurrently.
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

  /// SAFETY: as for `word`; this is its low half.
  private var futex: UnsafePointer<UInt32> {
    unsafe UnsafePointer(mapping.base.assumingMemoryBound(to: UInt32.self))
  }
}
