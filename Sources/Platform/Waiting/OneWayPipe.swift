import CLinuxShims
import Glibc

/// A pipe, from its write end to its read end. Both ends close on exec. This value owns both until
/// one is taken.
package struct OneWayPipe: ~Copyable {
  package let readEnd: Descriptor
  package let writeEnd: Descriptor

  package init() throws(SystemError) {
    // SAFETY: the call writes two numbers.
    let ends = try unsafe descriptorPair("pipe2", linux_pipe)
    readEnd = Descriptor(owning: ends[0])
    writeEnd = Descriptor(owning: ends[1])
  }

  /// Returns one end and closes the other, for example once a child has its copy.
  package consuming func takeReadEnd() -> Descriptor { readEnd }
  package consuming func takeWriteEnd() -> Descriptor { writeEnd }
}

/// Makes a call that opens two descriptors.
///
/// SAFETY: the caller passes a function that writes two numbers.
@unsafe func descriptorPair(
  _ operation: String, _ open: (UnsafeMutablePointer<Int32>) -> Int32
) throws(SystemError) -> InlineArray<2, Int32> {
  var ends: InlineArray<2, Int32> = [-1, -1]
  var span = ends.mutableSpan
  let result = unsafe span.withUnsafeMutableBufferPointer { unsafe open($0.baseAddress!) }
  guard result == 0 else { throw .last(operation) }
  return ends
}

/// Reads the available bytes, at most `limit`; empty at the end of the file.
package func readSome(_ descriptor: Int32, limit: Int = 65536) throws(SystemError) -> [UInt8] {
  var code: Int32 = 0
  let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { (buffer, count) in
    // SAFETY: read writes at most the buffer's capacity and returns how much it wrote.
    var result = unsafe read(descriptor, buffer.baseAddress, limit)
    while result < 0, errno == EINTR { result = unsafe read(descriptor, buffer.baseAddress, limit) }
    if result < 0 { code = errno }
    count = max(result, 0)
  }
  if code != 0 { throw SystemError(code: code, operation: "read") }
  return bytes
}
