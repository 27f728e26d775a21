import Foundation
import Platform
import Testing

@testable import WHIP

/// Reports of a peer, in the byte format of RFC 3550.
@Suite struct ReceiverReportsTests {
  private let reports = ReceiverReports()

  private func bytes(_ words: UInt32...) -> [UInt8] { bytes(words) }

  private func bytes(_ words: [UInt32]) -> [UInt8] {
    words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
  }

  /// A block on a stream: source, cumulative loss, highest number, then jitter and times.
  private func block(_ source: UInt32, lost: Int32, highest: UInt32) -> [UInt8] {
    let share: UInt32 = 99 << 24
    return bytes(source, share | UInt32(bitPattern: lost) & 0xff_ffff, highest, 1, 0, 0)
  }

  private func packet(type: UInt32, _ head: [UInt32], _ blocks: [[UInt8]]) -> [UInt8] {
    let words = head.count + blocks.count * 6
    let first = 2 << 30 | UInt32(blocks.count) << 24 | type << 16 | UInt32(words)
    return bytes([first] + head) + blocks.joined()
  }

  private func receiverReport(_ blocks: [UInt8]...) -> [UInt8] { packet(type: 201, [7], blocks) }

  @Test func eachReportIsTakenOnce() {
    #expect(reports.take() == nil)
    reports.receive(receiverReport(block(1, lost: 3, highest: 100)))
    #expect(reports.take() == WebRTCReport(packetsExpected: 0, packetsLost: 0))
    #expect(reports.take() == nil)
  }

  @Test func lossIsSummedOverStreamsAndReports() throws {
    reports.receive(
      receiverReport(block(1, lost: 0, highest: 100), block(2, lost: 5, highest: 10)))
    reports.receive(
      receiverReport(block(1, lost: 2, highest: 140), block(2, lost: 10, highest: 20)))
    reports.receive(
      receiverReport(block(1, lost: 12, highest: 200), block(2, lost: 10, highest: 20)))
    let report = try #require(reports.take())
    #expect(report == WebRTCReport(packetsExpected: 110, packetsLost: 17))
    #expect(report.lostShare == 17.0 / 110)
  }

  /// The last block of a report is on retransmission, which pauses when losses end.
  @Test func pausedStreamDoesNotHideOthers() throws {
    for highest in [100, 200] as [UInt32] {
      reports.receive(
        receiverReport(block(1, lost: 0, highest: highest), block(2, lost: 50, highest: 90)))
    }
    #expect(try #require(reports.take()).lostShare == 0)
  }

  @Test func senderReportsAndCompoundPacketsAreParsed() throws {
    let feedback = packet(type: 205, [7, 1, 0x0001_0000], [])
    let text = packet(type: 202, [7, 0x0103_6162, 0x6300_0000], [])
    let sender: [UInt32] = [7, 1, 2, 3, 4, 5]
    for (lost, highest) in [(0, 65_530), (1, 65_546)] as [(Int32, UInt32)] {
      reports.receive(
        packet(type: 200, sender, [block(1, lost: lost, highest: highest)]) + text + feedback)
      #expect(reports.take() != nil)
      reports.receive(feedback + receiverReport(block(2, lost: 0, highest: highest)))
    }
    #expect(reports.take() == WebRTCReport(packetsExpected: 16, packetsLost: 0))
  }

  @Test func sequenceNumbersWrapAndDuplicatesOffsetLosses() throws {
    reports.receive(receiverReport(block(1, lost: -1, highest: .max - 9)))
    reports.receive(receiverReport(block(1, lost: -4, highest: 10)))
    let report = try #require(reports.take())
    #expect(report == WebRTCReport(packetsExpected: 20, packetsLost: -3))
    #expect(report.lostShare == 0)
    // A receiver that restarts.
    reports.receive(receiverReport(block(1, lost: 0, highest: 3)))
    reports.receive(receiverReport(block(1, lost: 1, highest: 7)))
    #expect(reports.take() == WebRTCReport(packetsExpected: 4, packetsLost: 1))
  }

  @Test func lostShareStaysInRange() throws {
    reports.receive(receiverReport(block(1, lost: 0, highest: 0)))
    reports.receive(receiverReport(block(1, lost: 0x7f_ffff, highest: 1)))
    #expect(try #require(reports.take()).lostShare == 1)
  }

  @Test func excessStreamsAreNotCounted() throws {
    for round in 0...1 as ClosedRange<UInt32> {
      for source in 0..<100 as Range<UInt32> {
        reports.receive(receiverReport(block(source, lost: 0, highest: round * 10)))
      }
    }
    let most = UInt64(ReceiverReports.maximumSources)
    #expect(reports.take() == WebRTCReport(packetsExpected: most * 10, packetsLost: 0))
  }

  @Test func truncatedOrMalformedReportsAreSkipped() {
    let whole = receiverReport(block(1, lost: 0, highest: 9), block(2, lost: 0, highest: 9))
    for count in 0..<whole.count { reports.receive(Array(whole.prefix(count))) }
    #expect(reports.take() == nil)
    // It claims more blocks than it contains.
    var claiming = receiverReport(block(1, lost: 0, highest: 9))
    claiming[0] |= 31
    reports.receive(claiming)
    #expect(reports.take() == WebRTCReport(packetsExpected: 0, packetsLost: 0))
    let otherVersion = [whole[0] & 0x3f] + whole.dropFirst()
    reports.receive(otherVersion)
    #expect(reports.take() == nil)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<100_000 {
      var malformed = whole
      for _ in 0..<4 {
        malformed[Int.random(in: 0..<whole.count, using: &generator)] = generator.next()
      }
      reports.receive(malformed)
    }
  }

  @Test func roundTripIsFromSenderReportToReceiverReport() throws {
    let now = ReceiverReports.networkTime(wallNowNs())
    // The peer had the report of three seconds ago for two seconds.
    let block = bytes(1, 0, 9, 1, now &- 3 << 16, 2 << 16)
    reports.receive(packet(type: 201, [7], [block]))
    let roundTripNs = try #require(reports.take()?.roundTripNs)
    #expect(roundTripNs >= 999_000_000 && roundTripNs < 9_000_000_000)
    // The peer has no report yet, or one of the future.
    for time in [0, now &+ 5 << 16] {
      reports.receive(packet(type: 201, [7], [bytes(1, 0, 9, 1, time, 0)]))
      #expect(try #require(reports.take()).roundTripNs == nil)
    }
  }

  /// Feedback has its format in the place of the count.
  private func feedback(type: UInt32, _ words: [UInt32]) -> [UInt8] {
    var made = packet(type: type, [7, 1] + words, [])
    made[0] |= 15
    return made
  }

  @Test func receiverStatesMaximumBitrate() throws {
    let name: UInt32 = 0x5245_4D42
    reports.receive(feedback(type: 206, [name, 1 << 24 | 3 << 18 | 75_000, 1]))
    #expect(try #require(reports.take()).maximumBitsPerSecond == 600_000)
    // Another name, and more than fits a number.
    reports.receive(feedback(type: 206, [name + 1, 1 << 24 | 75_000, 1]))
    reports.receive(feedback(type: 206, [name, 1 << 24 | 63 << 18 | 0x3_ffff, 1]))
    #expect(reports.take() == nil)
    // 0 withdraws the bound.
    reports.receive(feedback(type: 206, [name, 1 << 24 | 3 << 18, 1]))
    #expect(try #require(reports.take()).maximumBitsPerSecond == .max)
  }

  /// A few bytes can stand for 65,535 packets.
  @Test func feedbackOnMorePacketsThanAreKeptIsCutOff() throws {
    for number in [4095, 5000] as [UInt16] { reports.noteSent(number, byteCount: Int(number)) }
    let lost: UInt32 = 0x1fff_1fff
    reports.receive(feedback(type: 205, [65_535, 0, lost, lost, lost, lost, lost]))
    #expect(try #require(reports.take()).arrivals.map(\.byteCount) == [4095])
  }

  @Test func arrivalsOfPacketsAreReportedOnce() throws {
    for number in [65_534, 65_535, 0, 1, 2] as [UInt16] {
      reports.noteSent(number, byteCount: 100 + Int(number % 10))
    }
    // From 65534: a run of two of one byte, then a vector: lost, and one of two bytes.
    let first: UInt32 = 65_534 << 16 | 4
    let words: [UInt32] = [first, 10 << 8, 0x2002 << 16 | 0xC800, 0x04_08_FFFC]
    let report = feedback(type: 205, words)
    reports.receive(report)
    let arrivals = try #require(reports.take()).arrivals
    #expect(arrivals.map(\.byteCount) == [104, 105, 100, 101])
    let origin = try #require(arrivals[0].arrivedNs)
    let times = arrivals.map { $0.arrivedNs.map { Int64($0) - Int64(origin) } }
    #expect(times == [0, 2_000_000, nil, 1_000_000])
    reports.receive(report)
    #expect(try #require(reports.take()).arrivals.isEmpty)
  }

  @Test func truncatedOrMalformedFeedbackIsSkipped() {
    let whole = feedback(type: 205, [4, 10 << 8, 0x2002 << 16 | 0xC800, 0x04_08_FFFC])
    var generator = SystemRandomNumberGenerator()
    for round in 0..<20_000 {
      for number in 0..<8 as Range<UInt16> { reports.noteSent(number, byteCount: 100) }
      var malformed = whole
      for _ in 0..<3 {
        malformed[Int.random(in: 1..<whole.count, using: &generator)] = generator.next()
      }
      reports.receive(Array(malformed.prefix(round % 2 == 0 ? whole.count : round % whole.count)))
      #expect((reports.take()?.arrivals.count ?? 0) <= 8)
    }
  }

  @Test func offerAsksForNumbersAndAnswerGrantsThem() {
    let offer = "v=0\r\nm=audio 9 X 1\r\na=mid:0\r\nm=video 9 X 2\r\na=mid:1\r\n"
    let numbered = SessionDescription.numberingPackets(in: offer)
    #expect(numbered.components(separatedBy: "a=extmap:5 http").count == 2)
    #expect(SessionDescription(numbered).packetNumberExtension == 5)
    #expect(SessionDescription(offer).packetNumberExtension == nil)
    for number in ["0", "15", "-1", "x"] {
      let answer = numbered.replacingOccurrences(of: "extmap:5", with: "extmap:\(number)")
      #expect(SessionDescription(answer).packetNumberExtension == nil)
    }
  }

  /// A receiver asks until it has the packet, or gives up.
  @Test func requestedPacketsAreCountedOnce() throws {
    func request(_ words: UInt32...) -> [UInt8] {
      var made = packet(type: 205, [7, 1] + words, [])
      made[0] |= 1
      return made
    }
    // 65535, and of the 16 after it the first and the last.
    reports.receive(request(65_535 << 16 | 0x8001))
    #expect(try #require(reports.take()).packetsRequested == 3)
    reports.receive(request(65_535 << 16 | 0x8001, 14 << 16))
    #expect(reports.take() == nil)
    reports.receive(request(15 << 16, 17 << 16 | 1))
    #expect(try #require(reports.take()).packetsRequested == 2)
    let whole = request(100 << 16 | 0xFFFF, 200 << 16)
    for count in 0..<whole.count { reports.receive(Array(whole.prefix(count))) }
    #expect(reports.take() == nil)
  }
}
