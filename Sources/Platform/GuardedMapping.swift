import CLinuxShims
import Glibc
import Synchronization

/// A file's bytes, shared with other processes that may do with the file what they like: one that
/// truncates it takes pages away from under this process, which would die of SIGBUS. Here such a
/// page becomes zeros of our own, and the loss is noted in `isLost`.
///
/// Its words are atomic, and reached by offsets that are checked; no pointer leaves this type.
/// Never inherited by a forked child.
@safe package struct GuardedMapping: ~Copyable, @unchecked Sendable {
  // because the address never changes and every access is atomic

  /// SAFETY: valid for `byteCount` bytes until deinit; every offset is checked before use.
  private let base: UnsafeMutableRawPointer
  package let byteCount: Int
  private let guardNumber: Int32

  /// Maps the first bytes of a file, which has at least as many, for reading and writing.
  /// - Throws: `ENOSPC` if this process guards as many mappings as it can.
  package init(_ file: borrowing Descriptor, byteCount: Int) throws(SystemError) {
    let address = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
    unsafe linux_keep_from_children(address, byteCount)
    let number = unsafe linux_guard(address, byteCount)
    if number < 0 {
      let error = SystemError.last("guard")
      unsafe munmap(address, byteCount)
      throw error
    }
    unsafe base = address
    self.byteCount = byteCount
    guardNumber = number
  }

  deinit {
    linux_unguard(guardNumber)
    unsafe munmap(base, byteCount)
  }

  /// Whether the file was truncated, or could not be read: what this process sees there from then
  /// on is its own.
  package var isLost: Bool { linux_guard_is_lost(guardNumber) }

  // MARK: Words

  package func loadAcquiring32(at offset: Int) -> UInt32 {
    unsafe word32(offset).pointee.load(ordering: .acquiring)
  }

  package func storeReleasing32(_ value: UInt32, at offset: Int) {
    unsafe word32(offset).pointee.store(value, ordering: .releasing)
  }

  /// Puts `new` in the place of `old`, in one step.
  /// - Returns: false, and nothing is changed, if something else is there.
  package func replace32(_ old: UInt32, with new: UInt32, at offset: Int) -> Bool {
    unsafe word32(offset).pointee.compareExchange(
      expected: old, desired: new, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Adds without a look at the sum, which wraps.
  package func add32(_ value: UInt32, at offset: Int) {
    unsafe word32(offset).pointee.wrappingAdd(value, ordering: .acquiringAndReleasing)
  }

  package func loadAcquiring64(at offset: Int) -> UInt64 {
    unsafe word64(offset).pointee.load(ordering: .acquiring)
  }

  package func storeReleasing64(_ value: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.store(value, ordering: .releasing)
  }

  package func replace64(_ old: UInt64, with new: UInt64, at offset: Int) -> Bool {
    unsafe word64(offset).pointee.compareExchange(
      expected: old, desired: new, ordering: .acquiringAndReleasing
    ).exchanged
  }

  package func add64(_ value: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.wrappingAdd(value, ordering: .acquiringAndReleasing)
  }

  /// `sem_init(3)`, shared between processes.
  package func initializeSemaphore(at offset: Int, value: UInt32) throws(SystemError) {
    let address = unsafe checked(offset, byteCount: Int(LINUX_SEMAPHORE_BYTES), alignment: 16)
    guard unsafe linux_semaphore_init(address, value) == 0 else { throw .last("sem_init") }
  }

  // MARK: Sleeping

  /// Sleeps while a word has a value, until it is woken, the deadline passes or `stop` is raised.
  /// May return early: the caller looks again.
  package func sleep(
    while offset: Int, is value: UInt32, stop: StopSignal?, until deadline: Deadline
  ) {
    unsafe sleepOnFutexes(
      shared: futex(offset), expecting: value, privates: nil, stop?.word, until: deadline)
  }

  /// Wakes sleepers, in whichever process.
  package func wake(_ count: Int, at offset: Int) {
    _ = unsafe linux_futex_wake(futex(offset), Int32(clamping: count), false)
  }

  private func futex(_ offset: Int) -> UnsafePointer<UInt32> {
    unsafe UnsafePointer(
      checked(offset, byteCount: 4, alignment: 4).assumingMemoryBound(to: UInt32.self))
  }

  private func word32(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    unsafe checked(offset, byteCount: 4, alignment: 4)
      .assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  private func word64(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe checked(offset, byteCount: 8, alignment: 8)
      .assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  private func checked(
    _ offset: Int, byteCount: Int, alignment: Int
  ) -> UnsafeMutableRawPointer {
    precondition(
      offset >= 0 && offset <= self.byteCount - byteCount && offset % alignment == 0,
      "offset \(offset) of \(self.byteCount) mapped bytes")
    return unsafe base + offset
  }
}

/// Whether glibc's `sem_t` is laid out as this package knows it.
package var isSemaphoreLayoutKnown: Bool { linux_semaphore_is_known() }

/// `SEM_VALUE_MAX`: the highest count of a POSIX semaphore.
package let semaphoreValueMaximum = Int(LINUX_SEMAPHORE_MAXIMUM)
