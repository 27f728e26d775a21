#if ThreadSanitizer
  import CLinuxShims
  import Glibc
  import Synchronization

  // For runs under ThreadSanitizer, with publisher and subscribers in one process. ThreadSanitizer
  // identifies memory by address, so a process maps each memory file only once. It does not see the
  // futex calls of Swift's Mutex, so locks are pthread mutexes.

  /// Replaces Synchronization.Mutex; modules that use locks shadow that with this.
  @safe package struct VisibleMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // because the value is only reached under the lock

    /// SAFETY: allocated in init, freed in deinit, the value touched under the lock alone.
    private let value: UnsafeMutablePointer<Value>
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: consuming sending Value) {
      unsafe self.value = .allocate(capacity: 1)
      unsafe self.value.initialize(to: value)
      unsafe lock = .allocate(capacity: 1)
      unsafe lock.initialize(to: pthread_mutex_t())
      unsafe pthread_mutex_init(lock, nil)
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }

    /// - Returns: nil if another thread has the lock.
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      guard unsafe pthread_mutex_trylock(lock) == 0 else { return nil }
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }

    deinit {
      unsafe pthread_mutex_destroy(lock)
      unsafe lock.deallocate()
      unsafe value.deinitialize(count: 1)
      unsafe value.deallocate()
    }
  }

  typealias Mutex<Value: ~Copyable> = VisibleMutex<Value>

  /// The memory files that this process has mapped.
  private let mappings = VisibleMutex<[SharedMapping]>([])

  private struct SharedMapping {
    let file: FileIdentity
    let address: UInt
    var users: Int
  }

  private struct FileIdentity: Equatable {
    let device: UInt
    let inode: UInt

    init(_ descriptor: Int32) {
      var status = stat()
      unsafe fstat(descriptor, &status)
      (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
    }
  }

  /// This process's mapping of a memory file, or a new one.
  func mapShared(
    _ file: borrowing MemoryFile, _ protection: Int32
  ) throws(SystemError) -> UnsafeMutableRawPointer {
    let (number, byteCount) = (file.descriptor.number, file.byteCount)
    let identity = FileIdentity(number)
    let address = mappings.withLock { mappings -> UInt in
      if let index = mappings.firstIndex(where: { $0.file == identity }) {
        mappings[index].users += 1
        return mappings[index].address
      }
      // One side writes a page and the other reads it, so the first mapping is writable for both.
      // Files sealed against that, or from another process, are mapped as requested.
      // SAFETY: fresh mappings replace nothing.
      var address = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
      if unsafe address == MAP_FAILED {
        unsafe address = mmap(nil, byteCount, protection, MAP_SHARED, number, 0)
      }
      guard unsafe address != MAP_FAILED else { return 0 }
      let bits = UInt(bitPattern: address)
      mappings.append(SharedMapping(file: identity, address: bits, users: 1))
      return bits
    }
    guard let address = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
      throw .last("mmap")
    }
    return unsafe address
  }

  /// SAFETY: the caller passes a result of `mapShared`, once.
  func unmapShared(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
    mappings.withLock { mappings in
      let bits = UInt(bitPattern: address)
      guard let index = mappings.firstIndex(where: { $0.address == bits }) else { return }
      mappings[index].users -= 1
      guard mappings[index].users == 0 else { return }
      mappings.remove(at: index)
      // A page may be in a row that the publishing thread is reading; it then reads zeros.
      // SAFETY: the last user has released the memory; a page stays mapped, as zeros.
      if byteCount == PageRow.pageBytes {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
        unsafe mmap(address, byteCount, PROT_READ, flags, -1, 0)
      } else {
        unsafe munmap(address, byteCount)
      }
    }
  }

  /// Like PageRow, but each index refers to the page of the subscriber in this process.
  @safe package final class PageRow: @unchecked Sendable {  // because its addresses are atomic
    package static let pageBytes = 4096
    package let count: Int
    /// SAFETY: reads as zeros; never unmapped.
    private let empty: UInt
    private let pages: [Page]

    private final class Page: Sendable {
      let address: Atomic<UInt>
      init(_ address: UInt) { self.address = Atomic(address) }
    }

    package init(count: Int) throws(SystemError) {
      let empty = unsafe mmap(
        nil, Self.pageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard unsafe empty != MAP_FAILED else { throw .last("mmap") }
      let bits = UInt(bitPattern: empty)
      self.count = count
      self.empty = bits
      pages = (0..<count).map { _ in Page(bits) }
    }

    @unsafe package func address(of index: Int) -> UnsafeMutableRawPointer {
      let bits = pages[index].address.load(ordering: .acquiring)
      guard let address = unsafe UnsafeMutableRawPointer(bitPattern: bits) else {
        preconditionFailure("page \(index) has no page")
      }
      return unsafe address
    }

    package func fill(_ index: Int, with file: borrowing MemoryFile) throws(SystemError) {
      let address = try unsafe mapShared(file, PROT_READ)
      pages[index].address.store(UInt(bitPattern: address), ordering: .releasing)
    }

    package func empty(_ index: Int) throws(SystemError) {
      let bits = pages[index].address.exchange(empty, ordering: .acquiringAndReleasing)
      guard bits != empty, let address = unsafe UnsafeMutableRawPointer(bitPattern: bits) else {
        return
      }
      unsafe unmapShared(address, Self.pageBytes)
    }
  }
#endif
