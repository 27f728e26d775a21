import CLinuxShims
import Glibc

/// A Unix socket for datagrams of two words with the sender's credentials from the kernel. Never
/// blocks.
package struct DatagramSocket: ~Copyable, Sendable {
  package typealias Words = InlineArray<2, UInt64>

  package enum SendResult: Sendable {
    case sent
    /// The receiver's queue is full.
    case full
    /// The receiver has closed its socket.
    case gone
    /// The kernel is temporarily short of resources.
    case shortOfResources
  }

  package struct Received: Sendable {
    /// Nil if the datagram does not have two words.
    package let words: Words?
    package let sender: PeerCredentials?
  }

  package let descriptor: Descriptor

  /// Creates a socket that receives at a name in a directory. The name must not exist yet.
  /// - Parameter mode: users with write permission may send.
  package init(receivingAs name: String, in directory: borrowing Directory, mode: UInt32)
    throws(SystemError)
  {
    let descriptor = Descriptor(
      owning: try retryingInterrupts("socket") { linux_datagram_socket(1) })
    let (number, base) = (descriptor.number, directory.descriptor.number)
    let path = directory.path(of: name)
    // SAFETY: the kernel reads the name during the call only.
    _ = try retryingInterrupts("bind", path: path) {
      unsafe linux_bind_in(number, base, name, mode_t(mode))
    }
    self.descriptor = descriptor
  }

  /// Creates a socket that sends to the socket of `node` (`O_PATH`), even if its path has changed.
  package init(sendingTo node: borrowing Descriptor) throws(SystemError) {
    let descriptor = Descriptor(
      owning: try retryingInterrupts("socket") { linux_datagram_socket(0) })
    let (number, node) = (descriptor.number, node.number)
    _ = try retryingInterrupts("connect") { linux_connect_node(number, node) }
    self.descriptor = descriptor
  }

  package borrowing func send(_ words: Words) -> SendResult {
    let span = words.span
    while true {
      // SAFETY: the kernel reads the words during the call, within their count.
      let sent = unsafe span.withUnsafeBufferPointer {
        unsafe linux_send_words(descriptor.number, $0.baseAddress, UInt32($0.count))
      }
      if sent >= 0 { return .sent }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .full
      case ENOBUFS, ENOMEM: return .shortOfResources
      default: return .gone
      }
    }
  }

  /// Receives a few pending datagrams in one system call.
  /// - Returns: whether there may be more.
  package borrowing func receive(_ body: (Received) -> Void) -> Bool {
    let most = Int(LINUX_DATAGRAMS_AT_ONCE)
    var datagrams = InlineArray<2, linux_datagram>(repeating: linux_datagram())
    var span = datagrams.mutableSpan
    while true {
      // SAFETY: the call writes at most as many as there is room for.
      let count = unsafe span.withUnsafeMutableBufferPointer {
        unsafe linux_receive_datagrams(descriptor.number, $0.baseAddress)
      }
      if count < 0, errno == EINTR { continue }
      for index in 0..<max(0, Int(count)) { body(Received(span[index])) }
      return count == most
    }
  }
}

extension DatagramSocket.Received {
  fileprivate init(_ datagram: linux_datagram) {
    let isWhole = Int(datagram.byte_count) == MemoryLayout<DatagramSocket.Words>.size
    let (pid, uid, gid) = (datagram.pid, datagram.uid, datagram.gid)
    words = isWhole ? [datagram.words.0, datagram.words.1] : nil
    sender = uid == .max ? nil : PeerCredentials(pid: pid, uid: uid, gid: gid)
  }
}

extension SystemError {
  /// Whether this process or the machine has run out of descriptors.
  package var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
}
