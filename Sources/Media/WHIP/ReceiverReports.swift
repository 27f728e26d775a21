import Platform
import Synchronization

/// A peer's reception reports: the report blocks of its RTCP sender and receiver reports (RFC 3550,
/// section 6.4), added up over all streams that it receives; the arrival times of single packets
/// (`TransportFeedback`); and the bitrate that it allows (draft-alvestrand-rmcat-remb-03).
///
/// The bytes are untrusted: other packets are skipped, and the blocks of more than
/// ``maximumSources`` streams are not counted.
public final class ReceiverReports: Sendable {
  /// Two kinds of media and the retransmission of each, doubled.
  public static let maximumSources = 8

  private let state = Mutex(State())

  public init() {}

  /// Parses a decrypted compound packet. Any thread may call it.
  public func receive(_ packet: [UInt8]) {
    let now = Self.networkTime(wallNowNs())
    state.withLock { $0.receive(packet[...], now) }
  }

  /// A packet has left with a transport-wide sequence number. Any thread may call it.
  public func noteSent(_ number: UInt16, byteCount: Int) {
    let nowNs = monotonicNowNs()
    state.withLock { $0.sent.note(number, byteCount: byteCount, atNs: nowNs) }
  }

  /// The middle 32 bits of an NTP timestamp, in which reports give times (RFC 3550, section 4). The
  /// seconds since 1900 and those since 1970 differ.
  static func networkTime(_ wallNs: UInt64) -> UInt32 {
    let (seconds, rest) = wallNs.quotientAndRemainder(dividingBy: 1_000_000_000)
    return UInt32(truncatingIfNeeded: (seconds &+ 2_208_988_800) << 16)
      | UInt32(rest << 16 / 1_000_000_000)
  }

  /// The sum of the reports since the last call; nil if there was none.
  public func take() -> WebRTCReport? { state.withLock { $0.fresh.take() } }
}

extension ReceiverReports {
  private struct State {
    var fresh: WebRTCReport?
    var sent = SentPackets()
    /// The newest sequence number that was requested again.
    private var newestRequest: UInt16?
    private var requestedAt: UInt32 = 0
    /// After this time without a request, a number is not compared with the newest.
    private static let requestPause: UInt32 = 2 << 16
    /// By SSRC.
    private var newest: [UInt32: Block] = [:]

    mutating func receive(_ packet: ArraySlice<UInt8>, _ now: UInt32) {
      var rest = packet
      while rest.count >= Header.size {
        let header = Header(rest)
        guard header.version == 2, header.byteCount <= rest.count else { return }
        let body = rest.prefix(header.byteCount).dropFirst(Header.size)
        rest = rest.dropFirst(header.byteCount)
        switch header.kind {
        case .blocks(let skipped):
          receiveBlocks(of: body.dropFirst(skipped), atMost: header.count, now)
        case .arrivals: receiveArrivals(body)
        case .requests: receiveRequests(body, now)
        case .maximumBitrate:
          guard let maximum = Self.maximumBitrate(body) else { continue }
          change { $0.maximumBitsPerSecond = maximum }
        case .other: continue
        }
      }
    }

    private mutating func change(_ body: (inout WebRTCReport) -> Void) {
      var report = fresh ?? WebRTCReport()
      body(&report)
      fresh = report
    }

    private mutating func receiveArrivals(_ body: ArraySlice<UInt8>) {
      let arrivals = TransportFeedback.arrivals(in: Array(body), of: &sent)
      change { $0.arrivals += arrivals }
    }

    /// Two sources, then a number and the bits of the 16 that follow it, once or more. Receivers
    /// repeat requests: those up to the newest number are counted.
    private mutating func receiveRequests(_ body: ArraySlice<UInt8>, _ now: UInt32) {
      if now &- requestedAt > Self.requestPause { newestRequest = nil }
      requestedAt = now
      var rest = body.dropFirst(8)
      var count = 0
      while rest.count >= 4 {
        let word = rest.bigEndian(at: 0)
        let first = UInt16(word >> 16)
        for offset in 0...16 where offset == 0 || word >> (offset - 1) & 1 == 1 {
          let number = first &+ UInt16(offset)
          if let newestRequest, Int16(bitPattern: number &- newestRequest) <= 0 { continue }
          newestRequest = number
          count += 1
        }
        rest = rest.dropFirst(4)
      }
      if count > 0 { change { $0.packetsRequested += count } }
    }

    /// Sources, `REMB`, then a mantissa of 18 bits with an exponent of 6.
    private static func maximumBitrate(_ body: ArraySlice<UInt8>) -> Int? {
      guard body.count >= 16, body.bigEndian(at: 8) == 0x5245_4D42 else { return nil }
      let word = body.bigEndian(at: 12)
      let (exponent, mantissa) = (word >> 18 & 0x3f, UInt64(word & 0x3_ffff))
      // More than anybody sends. 0 withdraws the bound, as in libwebrtc.
      if exponent > 40 { return nil }
      return mantissa == 0 ? .max : Int(mantissa << exponent)
    }

    private mutating func receiveBlocks(
      of bytes: ArraySlice<UInt8>, atMost count: Int, _ now: UInt32
    ) {
      var rest = bytes
      for _ in 0..<count where rest.count >= Block.size {
        add(Block(rest), now)
        rest = rest.dropFirst(Block.size)
      }
    }

    private mutating func add(_ block: Block, _ now: UInt32) {
      let before = newest[block.source]
      guard before != nil || newest.count < maximumSources else { return }
      newest[block.source] = block
      change { sum in
        // A first block has no predecessor to compare with.
        if let before { sum.add(block, since: before) }
        sum.roundTripNs = block.roundTripNs(now) ?? sum.roundTripNs
      }
    }
  }

  /// The header of each packet in a compound packet.
  private struct Header {
    static let size = 4
    let version: UInt8
    /// Of blocks, or the format of feedback.
    let count: Int
    private let type: UInt8
    let byteCount: Int

    init(_ bytes: ArraySlice<UInt8>) {
      let word = bytes.bigEndian(at: 0)
      version = UInt8(word >> 30)
      count = Int(word >> 24 & 0x1f)
      type = UInt8(word >> 16 & 0xff)
      byteCount = (Int(word & 0xffff) + 1) * 4
    }

    enum Kind {
      /// Report blocks, after a number of bytes.
      case blocks(after: Int)
      case arrivals
      /// For packets that are missing: generic NACK (RFC 4585, section 6.2.1).
      case requests
      case maximumBitrate
      case other
    }

    var kind: Kind {
      switch (type, count) {
      case (200, _): .blocks(after: 24)
      case (201, _): .blocks(after: 4)
      case (205, 1): .requests
      case (205, 15): .arrivals
      case (206, 15): .maximumBitrate
      default: .other
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
    /// The time of the last sender report that the peer has, and how long it had it.
    private let reportTime: UInt32
    private let reportAge: UInt32

    private static let longestRoundTrip: UInt32 = 10 << 16

    init(_ bytes: ArraySlice<UInt8>) {
      source = bytes.bigEndian(at: 0)
      lost = Int32(bitPattern: bytes.bigEndian(at: 4) << 8) >> 8
      highestNumber = bytes.bigEndian(at: 8)
      reportTime = bytes.bigEndian(at: 16)
      reportAge = bytes.bigEndian(at: 20)
    }

    /// Nil if the peer has no report, or the times are implausible.
    func roundTripNs(_ now: UInt32) -> UInt64? {
      let units = now &- reportTime &- reportAge
      guard reportTime != 0, units < Self.longestRoundTrip else { return nil }
      return UInt64(units) * 1_000_000_000 >> 16
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
  func bigEndian(at offset: Int) -> UInt32 {
    dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
