import CFrameLayout
import Platform

// The control messages of the rendezvous (docs/design/frame-ring.md): fixed-size records, each in
// one packet. A record from a peer is a copy; its header is checked here, its fields where they are
// used.

extension fb_message_header {
  init(_ kind: Int) {
    self.init(magic: FB_MAGIC_WORD, abi_version: UInt32(FB_ABI_VERSION), kind: UInt32(kind))
  }
}

extension fb_short_message {
  init(_ kind: Int, value: UInt64 = 0) {
    self.init(header: fb_message_header(kind), value: value)
  }
}

/// `FRMBUS01`. Swift does not import C macros with a suffix.
let FB_MAGIC_WORD: UInt64 = 0x3130_5355_424d_5246

extension MessageSocket {
  borrowing func send<Record: BitwiseCopyable>(
    _ record: Record, descriptors: [Int32] = []
  ) -> SendResult {
    // SAFETY: the span does not outlive the bytes of the record.
    unsafe withUnsafeBytes(of: record) { bytes in
      let span = unsafe RawSpan(_unsafeBytes: bytes)
      return send(span, descriptors: descriptors)
    }
  }
}

/// One received message: a copy of its bytes.
struct Message: ~Copyable {
  /// Room for the largest message of the protocol.
  private typealias Buffer = InlineArray<4096, UInt8>

  private var bytes: Buffer
  private let byteCount: Int
  let isTruncated: Bool
  private var received: MessageSocket.Received

  /// - Returns: nil if no message has arrived.
  init?(from socket: borrowing MessageSocket) throws(SystemError) {
    var buffer = Buffer(repeating: 0)
    var elements = buffer.mutableSpan
    // SAFETY: every bit pattern is a valid byte.
    var span = unsafe elements.mutableBytes
    guard let received = try socket.receive(into: &span) else { return nil }
    byteCount = received.byteCount
    isTruncated = received.isTruncated
    bytes = buffer
    self.received = received
  }

  /// Whether the message is empty, which is also how the end of a connection reads.
  var isEmpty: Bool { byteCount == 0 }
  var descriptorCount: Int { received.descriptors.count }

  /// The header, if the message has a valid one.
  var header: fb_message_header? {
    guard byteCount >= MemoryLayout<fb_message_header>.size else { return nil }
    let header = load(fb_message_header())
    return header.magic == FB_MAGIC_WORD ? header : nil
  }

  /// The message as a record of one kind, if it is of that kind, version and exact size.
  func record<Record: BitwiseCopyable>(_ empty: Record, kind: Int) -> Record? {
    guard let header, header.kind == UInt32(kind), header.abi_version == UInt32(FB_ABI_VERSION),
      byteCount == MemoryLayout<Record>.size
    else { return nil }
    return load(empty)
  }

  mutating func takeDescriptor() -> Descriptor? { received.takeDescriptor() }

  private func load<Record: BitwiseCopyable>(_ empty: Record) -> Record {
    var record = empty
    // SAFETY: callers ask for records no larger than the message; both are plain bytes.
    unsafe withUnsafeMutableBytes(of: &record) { target in
      for index in 0..<target.count { unsafe target[index] = bytes[index] }
    }
    return record
  }
}
