#if Media
  import CXCB
  import Platform

  /// A reply that libxcb allocated, freed when it goes. All in it is what the server says: libxcb
  /// received as many bytes as its length announces, and believes every other count.
  @safe struct XReply<Value>: ~Copyable {
    /// SAFETY: points to a reply of `byteCount` bytes, owned by this value alone.
    @unsafe let pointer: UnsafeMutablePointer<Value>
    private let byteCount: Int
    private let request: String

    /// - Throws: ``ScreenError/malformed(request:)`` if it is shorter than such a reply is.
    init(_ pointer: UnsafeMutableRawPointer, to request: String) throws(ScreenError) {
      // The length, in units of 4, of what follows the first 32 bytes, stands at the same place in
      // all replies.
      let units = unsafe pointer.load(fromByteOffset: 4, as: UInt32.self)
      byteCount = 32 + 4 * Int(units)
      unsafe self.pointer = pointer.assumingMemoryBound(to: Value.self)
      self.request = request
      guard byteCount >= MemoryLayout<Value>.size else { throw .malformed(request: request) }
    }

    var value: Value { unsafe pointer.pointee }

    /// What follows the first 32 bytes, copied.
    var rest: [UInt8] {
      // SAFETY: the reply has as many bytes, and they are copied while it lives.
      unsafe Array(
        UnsafeRawBufferPointer(start: UnsafeRawPointer(pointer) + 32, count: byteCount - 32))
    }

    /// A list in the reply, at the place and with the count that libxcb says.
    /// SAFETY: used as long as this value lives.
    /// - Throws: ``ScreenError/malformed(request:)`` if it does not lie in the reply.
    @unsafe func list<Element>(
      _ start: UnsafeMutablePointer<Element>?, count: some BinaryInteger
    ) throws(ScreenError) -> UnsafeBufferPointer<Element> {
      guard let start = unsafe start else {
        return unsafe UnsafeBufferPointer(start: nil, count: 0)
      }
      let offset = unsafe UnsafeRawPointer(start) - UnsafeRawPointer(pointer)
      guard count >= 0, offset >= 0, offset <= byteCount,
        Int(count) <= (byteCount - offset) / MemoryLayout<Element>.stride
      else { throw .malformed(request: request) }
      return unsafe UnsafeBufferPointer(start: start, count: Int(count))
    }

    deinit { unsafe freeForeignMemory(pointer) }
  }
#endif
