import Synchronization

/// A peer's reception reports: the report blocks of its RTCP sender and receiver reports (RFC 3550,
/// section 6.4), added up over all streams that it receives.
///
/// The bytes are untrusted: other packets are skipped, and the blocks of more than
/// ``maximumSources`` streams are not counted.
public final class ReceiverReports: Sendable {
  /// Two kinds of media and the retransmission of each, doubled.
  public static let maximumSources = 8

  private let state = Mutex(State())

  public init() {}

  /// Parses a decrypted compound packet. Any thread may call it.
  public func receive(_ packet: [UInt8]) { state.withLock { $0.receive(packet[...]) } }

  /// The sum of the reports since the last call; nil if there was none.
  public func take() -> WebRTCReport? { state.withLock { $0.fresh.take() } }
}

extension ReceiverReports {
  private struct State {
    var fresh: WebRTCReport?
    /// By SSRC.
    private var newest: [UInt32: Block] = [:]

    mutating func receive(_ packet: ArraySlice<UInt8>) {
      var rest = packet
      while rest.count >= Header.size {
        let header = Header(rest)
        guard header.version == 2, header.byteCount <= rest.count else { return }
        let body = rest.prefix(header.byteCount).dropFirst(Header.size)
        rest = rest.dropFirst(header.byteCount)
        guard let skipped = header.bytesBeforeBlocks else { continue }
        receiveBlocks(of: body.dropFirst(skipped), atMost: header.blockCount)
      }
    }

    private mutating func receiveBlocks(of bytes: ArraySlice<UInt8>, atMost count: Int) {
      var rest = bytes
      for _ in 0..<count where rest.count >= Block.size {
        add(Block(rest))
        rest = rest.dropFirst(Block.size)
      }
    }

    private mutating func add(_ block: Block) {
      let before = newest[block.source]
      guard before != nil || newest.count < maximumSources else { return }
      newest[block.source] = block
      var sum = fresh ?? WebRTCReport(packetsExpected: 0, packetsLost: 0)
      // A first block has no predecessor to compare with.
      if let before { sum.add(block, since: before) }
      fresh = sum
    }
  }

  /// The header of each packet in a compound packet.
  private struct Header {
    static let size = 4
    let version: UInt8
    let blockCount: Int
    private let type: UInt8
    let byteCount: Int

    init(_ bytes: ArraySlice<UInt8>) {
      let word = bytes.bigEndian(at: 0)
      version = UInt8(word >> 30)
      blockCount = Int(word >> 24 & 0x1f)
      type = UInt8(word >> 16 & 0xff)
      byteCount = (Int(word & 0xffff) + 1) * 4
    }

    /// The offset of the blocks after the header; nil for a packet without report blocks.
    var bytesBeforeBlocks: Int? {
      switch type {
      case 200: 24
      case 201: 4
      default: nil
      }
    }
  }

  fileprivate struct Block {
    static let size = 24
    let source: UInt32
    /// The cumulative number of lost packets, less those received twice: 24 bits, signed.
    let lost: Int32
    /// The extended highest sequence number received, with its cycle count.
    let highestNumber: UInt32

    init(_ bytes: ArraySlice<UInt8>) {
      source = bytes.bigEndian(at: 0)
      lost = Int32(bitPattern: bytes.bigEndian(at: 4) << 8) >> 8
      highestNumber = bytes.bigEndian(at: 8)
    }
  }
}

extension WebRTCReport {
  fileprivate mutating func add(
    _ block: ReceiverReports.Block, since before: ReceiverReports.Block
  ) {
    let expected = Int32(bitPattern: block.highestNumber &- before.highestNumber)
    // A receiver that restarts counts from its new start.
    guard expected > 0 else { return }
    packetsExpected += UInt64(expected)
    packetsLost += Int64(block.lost) - Int64(before.lost)
  }
}

extension ArraySlice<UInt8> {
  /// The 32-bit number at an offset.
  fileprivate func bigEndian(at offset: Int) -> UInt32 {
    dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
