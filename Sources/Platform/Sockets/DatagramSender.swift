import CLinuxShims
import Glibc

/// Sends datagrams of any bytes to a Unix socket at a path. Nothing here ever blocks.
package struct DatagramSender: ~Copyable, Sendable {
  package enum SendResult: Sendable {
    case sent
    /// More than the socket takes at once.
    case tooLarge
    /// The receiver has as many as its queue takes, or the kernel is out of something.
    case full
    /// Nobody receives there any more.
    case gone
  }

  private let descriptor: Descriptor

  /// Connects to the socket that lies there now.
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

  /// Sends a memory file in place of bytes.
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
