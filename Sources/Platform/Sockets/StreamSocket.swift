import CLinuxShims
import Glibc

/// Connects to the listening `SOCK_STREAM` socket at a path: `unix(7)`. Never blocks: a full
/// backlog is an error (`SystemError.isFullQueue`).
package func connectStream(to path: String) throws(SystemError) -> Descriptor {
  let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
  let descriptor = Descriptor(
    owning: try retryingInterrupts("socket") { socket(AF_UNIX, Int32(type), 0) })
  let number = descriptor.number
  // SAFETY: the path is read during the call only.
  _ = try retryingInterrupts("connect", path: path) { unsafe linux_connect_path(number, path) }
  return descriptor
}
