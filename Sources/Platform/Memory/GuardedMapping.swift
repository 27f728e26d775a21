import CLinuxShims
import Glibc
import Synchronization

/// A file's bytes, shared with untrusted processes. If one of them truncates the file, its pages
/// disappear and an access would raise SIGBUS. This type replaces such a page by private zeros, and
/// sets `isLost`.
///
/// Its words are atomic, with checked offsets; no pointer leaves this type. Its accessors are hot,
/// so they are inlined into other modules; they and the type are public because the compiler does
/// not inline `package` declarations there. Never inherited by a forked child.
@safe public struct GuardedMapping: ~Copyable, @unchecked Sendable {
  // because the address never changes and every access is atomic

  /// SAFETY: valid for `byteCount` bytes until deinit; every offset is checked before use.
  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline package let byteCount: Int
  private let protection: Int32
  private let guardNumber: Int32

  /// Maps the first bytes of a file. Accessing bytes beyond its end counts as a loss.
  /// - Parameter access: a store to a read-only mapping ends the process.
  /// - Throws: `ENOSPC` if this process already guards the maximum number of mappings.
  package init(
    _ file: borrowing Descriptor, byteCount: Int, _ access: Mapping.Access = .readAndWrite
  ) throws(SystemError) {
    protection = access == .read ? PROT_READ : PROT_READ | PROT_WRITE
    let address = unsafe mmap(nil, byteCount, protection, MAP_SHARED, file.number, 0)
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

  /// Whether the file was truncated or could not be read. The affected pages are private from then
  /// on.
  package var isLost: Bool { linux_guard_is_lost(guardNumber) }

  /// Maps the file again at the same address, once it has its bytes again. Other threads may
  /// continue: each of their accesses sees either the private page or the file's.
  package borrowing func renew(_ file: borrowing Descriptor) throws(SystemError) {
    guard linux_guard_renew(guardNumber, file.number, protection) == 0 else { throw .last("mmap") }
    unsafe linux_keep_from_children(base, byteCount)
  }

  // MARK: Words

  @inlinable public func loadAcquiring32(at offset: Int) -> UInt32 {
    unsafe word32(offset).pointee.load(ordering: .acquiring)
  }

  @inlinable public func storeReleasing32(_ value: UInt32, at offset: Int) {
    unsafe word32(offset).pointee.store(value, ordering: .releasing)
  }

  /// Replaces `old` with `new` atomically.
  /// - Returns: false, without a change, if the word has another value.
  @inlinable public func replace32(_ old: UInt32, with new: UInt32, at offset: Int) -> Bool {
    unsafe word32(offset).pointee.compareExchange(
      expected: old, desired: new, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Adds a value. The sum wraps.
  @inlinable public func add32(_ value: UInt32, at offset: Int) {
    unsafe word32(offset).pointee.wrappingAdd(value, ordering: .acquiringAndReleasing)
  }

  @inlinable public func loadAcquiring64(at offset: Int) -> UInt64 {
    unsafe word64(offset).pointee.load(ordering: .acquiring)
  }

  @inlinable public func storeReleasing64(_ value: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.store(value, ordering: .releasing)
  }

  /// Sequentially consistent, like the loads of such words: without that, C's memory model lets a
  /// poster and an observer miss each other (Models/litmus/observe-look.litmus).
  @inlinable public func replace64(_ old: UInt64, with new: UInt64, at offset: Int) -> Bool {
    unsafe word64(offset).pointee.compareExchange(
      expected: old, desired: new, ordering: .sequentiallyConsistent
    ).exchanged
  }

  @inlinable public func add64(_ value: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.wrappingAdd(value, ordering: .acquiringAndReleasing)
  }

  /// `sem_init(3)`, shared between processes.
  package func initializeSemaphore(at offset: Int, value: UInt32) throws(SystemError) {
    let address = unsafe checked(offset, byteCount: Int(LINUX_SEMAPHORE_BYTES), alignment: 16)
    guard unsafe linux_semaphore_init(address, value) == 0 else { throw .last("sem_init") }
  }

  /// Adds one and returns the sum, which wraps. Sequentially consistent across processes.
  @inlinable public func incremented64(at offset: Int) -> UInt64 {
    unsafe word64(offset).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
  }

  /// Sequentially consistent with `incremented64`.
  @inlinable @inline(__always)
  public func loadSequential64(at offset: Int) -> UInt64 {
    unsafe word64(offset).pointee.load(ordering: .sequentiallyConsistent)
  }

  @inlinable @inline(__always)
  public func storeSequential64(_ value: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.store(value, ordering: .sequentiallyConsistent)
  }

  @inlinable @inline(__always)
  public func loadRelaxed64(at offset: Int) -> UInt64 {
    unsafe word64(offset).pointee.load(ordering: .relaxed)
  }

  @inlinable @inline(__always)
  public func storeRelaxed64(_ value: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.store(value, ordering: .relaxed)
  }

  /// Sets bits. Sequentially consistent across processes.
  package func setBits64(_ bits: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.bitwiseOr(bits, ordering: .sequentiallyConsistent)
  }

  package func clearBits64(_ bits: UInt64, at offset: Int) {
    unsafe word64(offset).pointee.bitwiseAnd(~bits, ordering: .sequentiallyConsistent)
  }

  // MARK: Bytes

  /// Copies bytes that other processes may be changing; the caller must check the copy.
  package func copyBytes(at offset: Int, count: Int) -> [UInt8] {
    let start = unsafe checked(offset, byteCount: count, alignment: 1)
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  package func setBytes(_ bytes: [UInt8], at offset: Int) {
    let start = unsafe checked(offset, byteCount: bytes.count, alignment: 1)
    unsafe bytes.withUnsafeBytes {
      if let source = $0.baseAddress { unsafe start.copyMemory(from: source, byteCount: $0.count) }
    }
  }

  @inlinable @inline(__always)
  public func setBytes(_ bytes: RawSpan, at offset: Int) {
    let start = unsafe checked(offset, byteCount: bytes.byteCount, alignment: 1)
    unsafe bytes.withUnsafeBytes {
      if let source = $0.baseAddress { unsafe start.copyMemory(from: source, byteCount: $0.count) }
    }
  }

  /// Reads bytes in place. Nobody else may change them meanwhile.
  @inlinable @inline(__always)
  public func withBytes<Result>(
    at offset: Int, count: Int, _ body: (RawSpan) -> Result
  ) -> Result {
    let start = unsafe checked(offset, byteCount: count, alignment: 1)
    return unsafe body(RawSpan(_unsafeStart: start, byteCount: count))
  }

  /// A part of the mapping, for the kernel to read.
  /// SAFETY: the caller keeps the mapping during the kernel's use.
  @unsafe func part(_ range: Range<Int>) -> iovec {
    let start = unsafe checked(range.lowerBound, byteCount: range.count, alignment: 1)
    return unsafe iovec(iov_base: start, iov_len: range.count)
  }

  // MARK: Sleeping

  /// Sleeps while a word has a value, until it is woken, the deadline passes or `stop` is raised.
  /// May return early: the caller checks again.
  package func sleep(
    while offset: Int, is value: UInt32, stop: StopSignal?, until deadline: Deadline
  ) {
    unsafe sleepOnFutexes(
      shared: futex(offset), expecting: value, privates: nil, stop?.word, until: deadline)
  }

  /// Wakes sleepers, in any process.
  package func wake(_ count: Int, at offset: Int) {
    _ = unsafe linux_futex_wake(futex(offset), Int32(clamping: count), false)
  }

  private func futex(_ offset: Int) -> UnsafePointer<UInt32> {
    unsafe UnsafePointer(
      checked(offset, byteCount: 4, alignment: 4).assumingMemoryBound(to: UInt32.self))
  }

  @inlinable func word32(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    unsafe checked(offset, byteCount: 4, alignment: 4)
      .assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  @inlinable @inline(__always)
  func word64(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe checked(offset, byteCount: 8, alignment: 8)
      .assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  @inlinable @inline(__always)
  func checked(
    _ offset: Int, byteCount: Int, alignment: Int
  ) -> UnsafeMutableRawPointer {
    precondition(
      offset >= 0 && offset <= self.byteCount - byteCount && offset % alignment == 0,
      "offset \(offset) of \(self.byteCount) mapped bytes")
    return unsafe base + offset
  }
}

/// Whether glibc's `sem_t` has the layout that this package knows.
package var isSemaphoreLayoutKnown: Bool { linux_semaphore_is_known() }

/// `SEM_VALUE_MAX`: the highest count of a POSIX semaphore.
package let semaphoreValueMaximum = Int(LINUX_SEMAPHORE_MAXIMUM)
