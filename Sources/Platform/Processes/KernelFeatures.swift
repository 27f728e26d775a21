import CLinuxShims
import Glibc

/// The kernel features that the bus needs. Detected by use, because distributions backport features
/// to other versions.
package enum KernelFeatures {
  /// `uname(2)`'s release, such as `6.1.0-18-amd64`.
  package static var release: String {
    var name = utsname()
    guard unsafe uname(&name) == 0 else { return "unknown" }
    // SAFETY: the kernel ends the name with a zero within its field.
    return unsafe withUnsafeBytes(of: &name.release) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// Memory files that can be sealed against later writable mappings (Linux 5.1).
  package static var hasFutureWriteSeal: Bool {
    guard let file = try? MemoryFile(named: "probe", byteCount: 4096) else { return false }
    return (try? file.add(.futureWrites)) != nil
  }

  /// `futex_waitv(2)` (Linux 5.16).
  package static var hasFutexWaitAny: Bool {
    var wait = unsafe linux_futex_wait()
    // A call without words is invalid, but only if the kernel has the call.
    return unsafe linux_futex_wait_any(&wait, 0, 0) >= 0 || errno != ENOSYS
  }

  /// `pidfd_open(2)` (Linux 5.3).
  package static var hasProcessDescriptors: Bool { ProcessWatch(getpid()) != nil }

  /// The pidfd of a socket's peer, SO_PEERPIDFD (Linux 6.5).
  package static var hasPeerProcessDescriptor: Bool {
    var ends: InlineArray<2, Int32> = [-1, -1]
    var span = ends.mutableSpan
    let result = unsafe span.withUnsafeMutableBufferPointer {
      // SAFETY: socketpair writes two numbers, which the array holds.
      unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, $0.baseAddress!)
    }
    guard result == 0 else { return false }
    let first = Descriptor(owning: ends[0])
    _ = Descriptor(owning: ends[1])
    let peer = linux_peer_pidfd(first.number)
    if peer >= 0 { close(peer) }
    // This works even if the peer is this process or has ended.
    return peer >= 0
  }

  /// Why `io_uring(7)` is unavailable to this process; nil if it is available.
  package static var ringRefusal: SystemError? {
    do throws(SystemError) {
      _ = try IOURing(entries: 2)
      return nil
    } catch { return error }
  }

  /// The limit of open descriptors of this process.
  package static var descriptorLimit: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return 0
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Raises the soft limit of open descriptors to the hard limit: the usual soft limit is for
  /// programs that call select(2). Children inherit it.
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(resource, &limit)
  }
}
