import Testing
import WHIP

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
    return bytes(source, share | UInt32(bitPattern: lost) & 0xff_ffff, highest, 1, 2, 3)
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
}
