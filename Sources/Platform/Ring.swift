import CURing
import Glibc

/// An io_uring(7) for writes to files. One thread at a time uses it.
@safe final class Ring {
  /// SAFETY: allocated and set up in init; torn down and freed in deinit.
  private let ring: UnsafeMutablePointer<io_uring>

  /// A finished request: which, and bytes written or a negative errno.
  struct Event {
    let token: UInt64
    let result: Int32
  }

  /// - Throws: `EPERM` where a policy forbids it (kernel.io_uring_disabled, seccomp), `ENOSYS`
  ///   where the kernel has none, `ENOMEM` where RLIMIT_MEMLOCK is too low for an old kernel.
  init(entries: Int) throws(SystemError) {
    unsafe ring = .allocate(capacity: 1)
    unsafe ring.initialize(to: io_uring())
    let result = unsafe io_uring_queue_init(UInt32(entries), ring, 0)
    guard result == 0 else {
      unsafe ring.deallocate()
      throw SystemError(code: -result, operation: "io_uring_setup")
    }
  }

  /// Begins two writes of which the second waits for the first to end whole; if that does not, the
  /// second ends with `ECANCELED`. Their events have the tokens `2 * token` and `2 * token + 1`.
  /// SAFETY: the caller keeps the memory of both alive until their events. The list of parts itself
  /// is read during the call only (IORING_FEAT_SUBMIT_STABLE, Linux 5.5).
  @unsafe func write(
    _ parts: [iovec], at offset: UInt64, thenBlock block: UnsafeMutableRawPointer,
    at blockOffset: UInt64, to file: Int32, token: UInt64
  ) throws(SystemError) {
    let code = unsafe parts.withUnsafeBufferPointer { parts in
      let first = unsafe entry()
      unsafe io_uring_prep_writev(first, file, parts.baseAddress, UInt32(parts.count), offset)
      unsafe io_uring_sqe_set_flags(first, 1 << UInt32(IOSQE_IO_LINK_BIT))
      let second = unsafe entry()
      unsafe io_uring_prep_write(
        second, file, block, UInt32(BlockFile.blockBytes), blockOffset)
      unsafe io_uring_sqe_set_data64(first, 2 * token)
      unsafe io_uring_sqe_set_data64(second, 2 * token + 1)
      return submit()
    }
    guard code >= 0 else { throw SystemError(code: -code, operation: "io_uring_enter") }
  }

  /// The next event; nil if there is none, or nothing is under way to wait for.
  func next(isWaiting: Bool) throws(SystemError) -> Event? {
    var event: UnsafeMutablePointer<io_uring_cqe>?
    while true {
      // SAFETY: the entry belongs to the ring, and is read before it is given back.
      let result =
        unsafe isWaiting
        ? io_uring_wait_cqe(ring, &event) : io_uring_peek_cqe(ring, &event)
      if result == 0, let found = unsafe event {
        defer { unsafe io_uring_cqe_seen(ring, found) }
        return unsafe Event(token: found.pointee.user_data, result: found.pointee.res)
      }
      if result == -EAGAIN { return nil }
      if result != -EINTR { throw SystemError(code: -result, operation: "io_uring_enter") }
    }
  }

  /// SAFETY: the ring has two entries for each record, so one is free.
  @unsafe private func entry() -> UnsafeMutablePointer<io_uring_sqe> {
    guard let entry = unsafe io_uring_get_sqe(ring) else {
      preconditionFailure("no entry of the ring is free")
    }
    return unsafe entry
  }

  private func submit() -> Int32 {
    while true {
      let result = unsafe io_uring_submit(ring)
      if result != -EINTR { return result }
    }
  }

  deinit {
    unsafe io_uring_queue_exit(ring)
    unsafe ring.deallocate()
  }
}

/// Blocks of memory at page boundaries, as direct writing wants them.
@safe final class Scratch {
  /// SAFETY: `blocks` blocks, mapped until deinit.
  private let base: UnsafeMutableRawPointer
  private let blocks: Int

  init(blocks: Int) throws(SystemError) {
    let address = unsafe mmap(
      nil, blocks * BlockFile.blockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
      0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
    unsafe base = address
    self.blocks = blocks
  }

  /// SAFETY: valid as long as self.
  @unsafe func address(ofBlock block: Int) -> UnsafeMutableRawPointer {
    precondition(block < blocks, "block \(block) out of \(blocks)")
    return unsafe base + block * BlockFile.blockBytes
  }

  /// Copies bytes to the beginning of a block, and zeros behind them.
  func fill(block: Int, from bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= BlockFile.blockBytes, "\(bytes.count) bytes in a block")
    let target = unsafe UnsafeMutableRawBufferPointer(
      start: address(ofBlock: block), count: BlockFile.blockBytes)
    unsafe target.copyMemory(from: bytes)
    unsafe target[bytes.count...].initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe munmap(base, blocks * BlockFile.blockBytes) }
}
