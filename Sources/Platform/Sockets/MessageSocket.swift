import CLinuxShims
import Glibc

/// The credentials of a Unix socket's peer, from the kernel (`SO_PEERCRED`).
public struct PeerCredentials: Hashable, Sendable {
  public let pid: Int32
  public let uid: UInt32
  public let gid: UInt32
}

/// A connected `SOCK_SEQPACKET` Unix socket: whole messages in order, with descriptors. Only
/// ``waitUntilReadable(until:stop:)`` blocks.
package struct MessageSocket: ~Copyable, Sendable {
  package enum SendResult: Sendable {
    case sent
    /// The socket is full; it becomes writable once the peer reads.
    case wouldBlock
    /// The kernel is short of resources; the socket may already be writable.
    case shortOfResources
    case disconnected
  }

  /// The result of one `recvmsg(2)`. The end of the connection looks like an empty message; a
  /// hang-up event of the event loop distinguishes them.
  package struct Received: ~Copyable {
    package let byteCount: Int
    /// The message had more bytes or descriptors than expected: the peer violates the protocol.
    package let isTruncated: Bool
    package var descriptors: [Int32]

    /// The next descriptor, now owned by the caller.
    package mutating func takeDescriptor() -> Descriptor? {
      descriptors.isEmpty ? nil : Descriptor(owning: descriptors.removeFirst())
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
  }

  package let descriptor: Descriptor

  package init(owning descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// Connects to a listening socket at a path: `unix(7)`.
  package static func connect(to path: String) throws(SystemError) -> MessageSocket {
    let descriptor = try makeSocket()
    let number = descriptor.number
    // SAFETY: the path is read during the call only.
    _ = try retryingInterrupts("connect", path: path) {
      unsafe linux_connect_path(number, path)
    }
    return MessageSocket(owning: descriptor)
  }

  /// Connects to the listening socket that `node` names (`O_PATH`), whatever has its path now.
  package static func connect(to node: borrowing Descriptor) throws(SystemError) -> MessageSocket {
    let descriptor = try makeSocket()
    let (number, node) = (descriptor.number, node.number)
    _ = try retryingInterrupts("connect") { linux_connect_node(number, node) }
    return MessageSocket(owning: descriptor)
  }

  package borrowing func peer() throws(SystemError) -> PeerCredentials {
    var (pid, uid, gid): (Int32, UInt32, UInt32) = (0, 0, 0)
    guard unsafe linux_peer_credentials(descriptor.number, &pid, &uid, &gid) == 0 else {
      throw .last("getsockopt SO_PEERCRED")
    }
    return PeerCredentials(pid: pid, uid: uid, gid: gid)
  }

  /// A descriptor that becomes readable when the peer's process ends (`SO_PEERPIDFD`, Linux 6.5;
  /// before that `pidfd_open(2)`, which can refer to another process if the PID was reused).
  /// - Returns: nil if the process has ended and nothing is left of it.
  package borrowing func peerProcess() throws(SystemError) -> SharedDescriptor? {
    var pidfd = linux_peer_pidfd(descriptor.number)
    // EINVAL: before Linux 6.16, the process has been waited for.
    if pidfd < 0, errno == EINVAL { return nil }
    if pidfd < 0 { pidfd = linux_pidfd_open(try peer().pid) }
    if pidfd >= 0 { return SharedDescriptor(owning: pidfd) }
    if errno == ESRCH { return nil }
    throw .last("pidfd_open")
  }

  package borrowing func send(_ message: RawSpan, descriptors: [Int32] = []) -> SendResult {
    switch sendMessage(message, descriptors: descriptors, to: descriptor.number) {
    case 0: .sent
    case EAGAIN: .wouldBlock
    // ETOOMANYREFS: this user temporarily has too many descriptors in flight.
    case ENOBUFS, ENOMEM, ETOOMANYREFS: .shortOfResources
    default: .disconnected
    }
  }

  /// - Returns: nil if no message has arrived.
  package borrowing func receive(
    into buffer: inout MutableRawSpan
  ) throws(SystemError) -> Received? {
    var descriptors: InlineArray<5, Int32> = InlineArray(repeating: -1)
    var count: UInt32 = 0
    var isTruncated = false
    // SAFETY: the call writes at most as many bytes and numbers as the counts it is given.
    while true {
      let received = unsafe buffer.withUnsafeMutableBytes { bytes in
        var slots = descriptors.mutableSpan
        return unsafe slots.withUnsafeMutableBufferPointer {
          unsafe linux_receive_message(
            descriptor.number, bytes.baseAddress, bytes.count, $0.baseAddress, UInt32($0.count),
            &count, &isTruncated)
        }
      }
      if received >= 0 {
        return Received(
          byteCount: received, isTruncated: isTruncated,
          descriptors: (0..<Int(count)).map { descriptors[$0] })
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: return nil
      default: throw .last("recvmsg")
      }
    }
  }

  /// Waits until a message or the end of the connection arrives.
  /// - Returns: false when the deadline passed first.
  package borrowing func waitUntilReadable(
    until deadline: Deadline, stop: StopSignal? = nil
  ) -> Bool {
    poll(descriptor.number, stop?.descriptorNumber, until: deadline)
  }
}

/// A socket with several owners; closed with the last reference.
package final class SharedSocket: Sendable {
  package let messages: MessageSocket

  package init(_ socket: consuming MessageSocket) { messages = socket }

  package var number: Int32 { messages.descriptor.number }
}

/// Waits until `first` or `stop` is readable, or the deadline passes.
package func poll(_ first: Int32, _ stop: Int32?, until deadline: Deadline) -> Bool {
  while true {
    let ready = linux_poll_readable(first, stop ?? -1, deadline.monotonicNs)
    if ready >= 0 { return ready == 1 }
  }
}

/// `sendmsg(2)` that never blocks.
/// - Returns: `errno`, 0 when the message is sent.
func sendMessage(_ message: RawSpan, descriptors: [Int32], to socket: Int32) -> Int32 {
  while true {
    // SAFETY: the kernel reads the bytes and the numbers during the call, each within its count.
    let sent = unsafe message.withUnsafeBytes { bytes in
      unsafe descriptors.withUnsafeBufferPointer {
        unsafe linux_send_message(
          socket, bytes.baseAddress, bytes.count, $0.baseAddress, UInt32($0.count))
      }
    }
    if sent >= 0 { return 0 }
    if errno != EINTR { return errno }
  }
}

/// A sequenced-packet socket that never blocks.
private func makeSocket() throws(SystemError) -> Descriptor {
  let type = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
  return Descriptor(
    owning: try retryingInterrupts("socket") { socket(AF_UNIX, Int32(type), 0) })
}

/// A `SOCK_SEQPACKET` Unix socket that accepts connections.
package struct ListeningSocket: ~Copyable, Sendable {
  package let descriptor: Descriptor
  package static let temporarySuffix = ".new"

  /// Binds under a temporary name and renames into place, so that the path always leads to a
  /// listening socket, and a predecessor's leftover is replaced atomically. The caller must be the
  /// only creator of this socket; the leftover of a creator that died is removed by the next one.
  package init(at path: String, mode: UInt32) throws(SystemError) {
    let descriptor = try makeSocket()
    let number = descriptor.number
    let temporary = path + Self.temporarySuffix
    // SAFETY: here and below, the kernel reads the paths during the calls only.
    unsafe unlink(temporary)
    _ = try retryingInterrupts("bind", path: temporary) {
      unsafe linux_bind_path(number, temporary, mode_t(mode))
    }
    do {
      _ = linux_refuse_descriptors(number)
      _ = try retryingInterrupts("listen", path: temporary) { listen(number, 128) }
      _ = try retryingInterrupts("rename", path: path) { unsafe rename(temporary, path) }
    } catch {
      unsafe unlink(temporary)
      throw error
    }
    self.descriptor = descriptor
  }

  /// - Returns: nil if no connection is pending.
  package borrowing func accept() throws(SystemError) -> MessageSocket? {
    while true {
      let number = linux_accept(descriptor.number)
      if number >= 0 { return MessageSocket(owning: Descriptor(owning: number)) }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EAGAIN: return nil
      default: throw .last("accept4")
      }
    }
  }
}

/// The longest path in a socket address: `unix(7)`, sun_path without its terminating null byte.
package let maximumSocketPathBytes = 107
