import Glibc

/// Writes parts of a mapping to files with few system calls: by io_uring(7), or by plain calls if
/// io_uring is unavailable. One thread at a time uses it.
package final class BatchWriter {
  /// Why io_uring is unavailable; nil if it is available.
  package let ringRefusal: SystemError?
  private let ring: IOURing?

  package init() {
    do throws(SystemError) {
      ring = try IOURing(entries: 2)
      ringRefusal = nil
    } catch {
      ring = nil
      ringRefusal = error
    }
  }

  /// Writes all parts consecutively, and waits for completion.
  /// - Parameter isDurable: also waits until they survive a power cut.
  package func write(
    _ ranges: [Range<Int>], of memory: borrowing GuardedMapping, to file: Int32,
    at offset: Int, isDurable: Bool
  ) throws(SystemError) {
    // SAFETY: the mapping is borrowed until either kind of write has ended.
    var rest: [iovec] = unsafe []
    for range in ranges { unsafe rest.append(memory.part(range)) }
    let byteCount = ranges.reduce(0) { $0 + $1.count }
    var written = 0
    if let ring {
      written = unsafe try ring.append(
        rest, at: UInt64(offset), to: file, isDurable: isDurable)
      if written == byteCount { return }
      unsafe rest.dropBytes(written)
    }
    while written < byteCount {
      let count = unsafe pwritev(file, rest, Int32(rest.count), off_t(offset + written))
      if count == 0 { throw SystemError(code: ENOSPC, operation: "pwritev") }
      if count > 0 {
        written += count
        unsafe rest.dropBytes(count)
      } else if errno != EINTR {
        throw .last("pwritev")
      }
    }
    if isDurable { try syncData(file) }
  }
}
