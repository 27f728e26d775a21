import CLinuxShims
import Glibc

/// A TCP socket on a free port of 127.0.0.1, which every process of this machine can reach.
package final class LoopbackListener: Sendable {
  package let port: UInt16
  private let descriptor: Descriptor

  package init() throws(SystemError) {
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = Descriptor(
      owning: try retryingInterrupts("socket") { socket(AF_INET, Int32(type), 0) })
    let number = descriptor.number
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
    // SAFETY: the kernel reads and writes the address, of this size, during the calls only.
    let result = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(number, address, byteCount) == 0 && listen(number, 8) == 0
          && getsockname(number, address, &byteCount) == 0
      }
    }
    guard result else { throw .last("listen") }
    port = UInt16(bigEndian: address.sin_port)
    self.descriptor = descriptor
  }

  /// Readable while a process waits to connect.
  package var number: Int32 { descriptor.number }

  /// - Returns: nil if no connection can be accepted, as without a free descriptor.
  package func accept() -> LoopbackConnection? {
    let number = linux_accept(descriptor.number)
    return number < 0 ? nil : LoopbackConnection(owning: number)
  }
}

/// The result of moving bytes without blocking.
package enum ByteTransfer: Sendable {
  case moved(Int)
  case wouldBlock
  /// One of the two sides has closed the connection, or it is broken.
  case closed
}

/// An accepted connection of a ``LoopbackListener``. Never blocks.
package final class LoopbackConnection: Sendable {
  private let descriptor: Descriptor

  fileprivate init(owning number: Int32) { descriptor = Descriptor(owning: number) }

  package var number: Int32 { descriptor.number }

  package func receive(into buffer: inout MutableRawSpan) -> ByteTransfer {
    let number = number
    // SAFETY: the kernel writes at most the buffer's count during the call.
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe recv(number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    return count > 0 ? .moved(count) : count < 0 && isRetryLater ? .wouldBlock : .closed
  }

  package func send(_ bytes: RawSpan) -> ByteTransfer {
    let number = number
    let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
    // SAFETY: the kernel reads within the span's count during the call.
    let count = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.send(number, $0.baseAddress, $0.count, flags)
    }
    return count >= 0 ? .moved(count) : isRetryLater ? .wouldBlock : .closed
  }

  private var isRetryLater: Bool { errno == EAGAIN || errno == EINTR }
}
