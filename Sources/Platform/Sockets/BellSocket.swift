import CLinuxShims
import Glibc

/// Two ends of a bell: a stream socket of `unix(7)` on which one process sends single bytes and
/// another sleeps. What bytes they are, and how many, means nothing.
///
/// A socket, because no other descriptor lets its reader have so little power over its writer: an
/// eventfd or a pipe is one file with one set of flags, which the peer could make blocking and
/// fill. The hearing end can only be read, so that nothing and no descriptor can come back.
package struct BellPair: ~Copyable {
  package let ringing: SharedDescriptor
  package let hearing: Descriptor

  package init() throws(SystemError) {
    var ends: InlineArray<2, Int32> = [-1, -1]
    var span = ends.mutableSpan
    let result = unsafe span.withUnsafeMutableBufferPointer {
      // SAFETY: the call writes two numbers, which the array holds.
      unsafe linux_one_way_socket_pair($0.baseAddress!)
    }
    guard result == 0 else { throw .last("socketpair") }
    ringing = SharedDescriptor(owning: ends[0])
    hearing = Descriptor(owning: ends[1])
  }
}

/// Rings, without ever blocking. A full socket holds bells enough already, and a closed one has
/// nobody to wake.
package func ringBell(_ number: Int32) {
  var byte: UInt8 = 0
  // SAFETY: one byte, of a local.
  _ = unsafe send(number, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
}

/// The hearing end of a bell, as a peer sent it.
package final class BellSocket: Sendable {
  private let descriptor: Descriptor

  /// - Returns: nil if it is another kind of descriptor, which could block its reader.
  package init?(received descriptor: consuming Descriptor) {
    guard linux_is_stream_socket(descriptor.number) else { return nil }
    _ = linux_refuse_descriptors(descriptor.number)
    self.descriptor = descriptor
  }

  /// Readable when the bell has rung since it was silenced, or its ringer is gone.
  package var number: Int32 { descriptor.number }

  /// Takes out the bells that have come.
  /// - Returns: false when none can come any more.
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
