import CLinuxShims
import Glibc

/// The two ends of a bell: a stream socket of `unix(7)` on which one process sends single bytes and
/// another sleeps. The value and number of the bytes are irrelevant.
///
/// It is a socket because its reader has the least power over its writer: the ends of an eventfd or
/// a pipe share one set of flags, so that the peer could make it blocking and fill it. The
/// receiving end is read-only, so that no data or descriptor can come back.
package struct BellPair: ~Copyable {
  package let ringing: SharedDescriptor
  package let hearing: Descriptor

  package init() throws(SystemError) {
    // SAFETY: the call writes two numbers.
    let ends = try unsafe descriptorPair("socketpair", linux_one_way_socket_pair)
    ringing = SharedDescriptor(owning: ends[0])
    hearing = Descriptor(owning: ends[1])
  }
}

/// Rings. Never blocks. Errors are ignored: a full socket is already readable, and a closed one has
/// no sleeper.
package func ringBell(_ number: Int32) {
  var byte: UInt8 = 0
  // SAFETY: sends one byte of a local variable.
  _ = unsafe send(number, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
}

/// The receiving end of a bell, sent by a peer.
package final class BellSocket: Sendable {
  private let descriptor: Descriptor

  /// Returns nil for another kind of descriptor, which could block its reader.
  package init?(received descriptor: consuming Descriptor) {
    guard linux_is_stream_socket(descriptor.number) else { return nil }
    _ = linux_refuse_descriptors(descriptor.number)
    self.descriptor = descriptor
  }

  /// Readable when the bell has rung since it was silenced, or its other end is closed.
  package var number: Int32 { descriptor.number }

  /// Reads the pending bytes.
  /// - Returns: false if the other end is closed.
  package func silence() -> Bool {
    var buffer: InlineArray<1024, UInt8> = InlineArray(repeating: 0)
    var span = buffer.mutableSpan
    // SAFETY: at most as many bytes are written as the buffer has.
    let count = unsafe span.withUnsafeMutableBufferPointer {
      unsafe recv(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
  }
}
