import CLinuxShims
import Glibc

/// Sends datagrams to a Unix socket at a path. Never blocks.
package struct DatagramSender: ~Copyable, Sendable {
  package enum SendResult: Sendable {
    case sent
    /// The datagram is larger than the socket's limit.
    case tooLarge
    /// The receiver's queue is full, or the kernel is short of resources.
    case full
    /// The receiver has closed its socket.
    case gone
  }

  private let descriptor: Descriptor

  /// Connects to the socket at a path.
  package init(to path: String) throws(SystemError) {
    let descriptor = Descriptor(
      owning: try retryingInterrupts("socket") { linux_datagram_socket(0) })
    let number = descriptor.number
    // SAFETY: the path is read during the call only.
    _ = try retryingInterrupts("connect", path: path) { unsafe linux_connect_path(number, path) }
    self.descriptor = descriptor
  }

  package borrowing func send(_ bytes: [UInt8]) -> SendResult {
    send(bytes, descriptors: [])
  }

  /// Sends a memory file instead of bytes.
  package borrowing func send(_ file: borrowing MemoryFile) -> SendResult {
    send([], descriptors: [file.descriptor.number])
  }

  private borrowing func send(_ bytes: [UInt8], descriptors: [Int32]) -> SendResult {
    // SAFETY: bytes have no padding that could be read.
    let message = unsafe bytes.span.bytes
    return switch sendMessage(message, descriptors: descriptors, to: descriptor.number) {
    case 0: .sent
    case EMSGSIZE: .tooLarge
    case EAGAIN, ENOMEM, ENOBUFS, ETOOMANYREFS: .full
    default: .gone
    }
  }
}
