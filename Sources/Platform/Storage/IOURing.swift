import CURing
import Glibc

/// An io_uring(7) for writes to files. One thread at a time uses it.
@safe final class IOURing {
  /// SAFETY: allocated in init, freed in deinit.
  private let ring: OpaquePointer

  /// A finished write: its token, and the number of bytes written or a negative errno.
  struct Event {
    let token: UInt64
    let result: Int32
  }

  /// - Throws: `EPERM` if a policy forbids io_uring (kernel.io_uring_disabled, seccomp), `ENOSYS`
  ///   if the kernel lacks it, `ENOMEM` if RLIMIT_MEMLOCK is too low for an old kernel.
  init(entries: Int) throws(SystemError) {
    var code: Int32 = 0
    guard let ring = unsafe fb_ring_create(UInt32(entries), &code) else {
      throw SystemError(code: -code, operation: "io_uring_setup")
    }
    unsafe self.ring = ring
  }

  /// Begins two linked writes: the second starts once the first has completed without a short
  /// write. Their events have the tokens `2 * token` and `2 * token + 1`.
  /// SAFETY: the caller keeps the memory of both alive until their events.
  @unsafe func write(
    _ parts: [iovec], at offset: UInt64, then last: iovec, at lastOffset: UInt64, to file: Int32,
    token: UInt64
  ) throws(SystemError) {
    var last = unsafe last
    let code = unsafe parts.withUnsafeBufferPointer { parts in
      unsafe fb_ring_write(
        ring, file, token, parts.baseAddress, UInt32(parts.count), offset, &last, lastOffset)
    }
    guard code == 0 else { throw SystemError(code: -code, operation: "io_uring_enter") }
  }

  /// Writes, optionally syncs to the disk, and waits for completion.
  /// - Returns: the number of bytes written; after a short write nothing has been synced.
  /// SAFETY: the caller keeps the memory of the parts alive during the call.
  @unsafe func append(
    _ parts: [iovec], at offset: UInt64, to file: Int32, isDurable: Bool
  ) throws(SystemError) -> Int {
    let code = unsafe parts.withUnsafeBufferPointer { parts in
      unsafe fb_ring_append(
        ring, file, parts.baseAddress, UInt32(parts.count), offset, isDurable)
    }
    guard code == 0 else { throw SystemError(code: -code, operation: "io_uring_enter") }
    var results: InlineArray<2, Int32> = [0, 0]
    for _ in 0..<(isDurable ? 2 : 1) {
      guard let event = try next(isWaiting: true) else { break }
      results[Int(event.token)] = event.result
    }
    if results[0] < 0 { throw SystemError(code: -results[0], operation: "writev") }
    if results[1] < 0, results[1] != -ECANCELED {
      throw SystemError(code: -results[1], operation: "fdatasync")
    }
    return Int(results[0])
  }

  /// The next event, if any.
  /// - Parameter isWaiting: whether to wait for an event; a write must be in flight.
  func next(isWaiting: Bool) throws(SystemError) -> Event? {
    var token: UInt64 = 0
    var result: Int32 = 0
    let code = unsafe fb_ring_next(ring, isWaiting, &token, &result)
    guard code >= 0 else { throw SystemError(code: -code, operation: "io_uring_enter") }
    return code == 0 ? nil : Event(token: token, result: result)
  }

  deinit { unsafe fb_ring_free(ring) }
}
