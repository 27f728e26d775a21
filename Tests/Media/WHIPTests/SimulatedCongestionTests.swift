import Testing

@testable import WHIP

/// The control of the bitrate on simulated links.
@Suite struct SimulatedCongestionTests {
  /// From 4 Mbit/s to 1, and back.
  @Test(arguments: [1_000_000.0, 500_000], [0, 3_000_000] as [UInt64])
  func freedLinkIsUsedWithinThreeSeconds(capacity: Double, jitterNs: UInt64) throws {
    var link = SimulatedLink()
    link.jitterNs = jitterNs
    link.bitsPerSecond = 4_400_000
    _ = link.run(seconds: 10)
    #expect(link.control.mediaBitsPerSecond > 3_400_000)
    link.bitsPerSecond = capacity
    _ = link.run(seconds: 3)
    let slow = link.run(seconds: 15)
    #expect((0.7...1.05).contains(slow.bitsPerSecond / capacity), "\(slow)")
    #expect(slow.p95WaitNs < 150_000_000, "\(slow)")
    link.bitsPerSecond = 4_400_000
    let freed = link.run(seconds: 10, until: 0.8)
    let seconds = try #require(freed.recoveredAfter)
    #expect(seconds < 3, "\(seconds)")
  }

  /// What the full queue loses is not sent again, which would take longer than a key frame: 2.4 s
  /// and 7.5 s.
  @Test(arguments: [1_000_000.0, 500_000], 1...4 as ClosedRange<UInt64>)
  func picturesBeginAnewAfterAnOverload(capacity: Double, seed: UInt64) {
    var link = SimulatedLink(seed: seed)
    link.jitterNs = 3_000_000
    link.bitsPerSecond = 4_400_000
    _ = link.run(seconds: 10)
    #expect(link.control.restarts == 0)
    link.bitsPerSecond = capacity
    let overload = link.run(seconds: 2)
    #expect(link.control.restarts == 1)
    #expect(overload.outageNs < 1_000_000_000, "\(overload)")
    let after = link.run(seconds: 5)
    #expect(after.longestWaitNs < 150_000_000 && after.overflowBytes == 0, "\(after)")
    #expect(after.bitsPerSecond > 0.8 * capacity, "\(after)")
  }

  /// Chance alone makes seconds with more losses and with fewer.
  @Test(arguments: [0.02, 0.05, 0.1], 1...6 as ClosedRange<UInt64>)
  func lossesWithoutQueueLeaveTheBitrate(share: Double, seed: UInt64) {
    var link = SimulatedLink(maximum: 4_000_000, seed: seed)
    link.lostShare = share
    _ = link.run(seconds: 16)
    let figures = link.run(seconds: 20)
    #expect(figures.bitsPerSecond > 2_800_000, "\(figures)")
    #expect(link.control.restarts == 0)
  }

  @Test func jitterIsNoQueue() {
    var link = SimulatedLink(maximum: 2_500_000)
    link.bitsPerSecond = 6e6
    (link.delayNs, link.jitterNs) = (100_000_000, 20_000_000)
    _ = link.run(seconds: 10)
    let figures = link.run(seconds: 20)
    #expect(figures.bitsPerSecond > 1_700_000, "\(figures)")
  }

  @Test func otherSenderIsGivenWay() {
    var link = SimulatedLink(maximum: 3_000_000)
    link.bitsPerSecond = 3.5e6
    _ = link.run(seconds: 5)
    link.otherBitsPerSecond = 2e6
    _ = link.run(seconds: 5)
    let figures = link.run(seconds: 20)
    #expect((1_000_000...1_600_000).contains(figures.bitsPerSecond), "\(figures)")
    #expect(figures.p95WaitNs < 150_000_000, "\(figures)")
  }

  /// Its packets fill the queue too, which must not lose any.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func anotherSenderFillsNoQueue(seed: UInt64) {
    var link = SimulatedLink(seed: seed)
    link.jitterNs = 3_000_000
    link.bitsPerSecond = 4e6
    _ = link.run(seconds: 12)
    link.otherBitsPerSecond = 2e6
    let step = link.run(seconds: 4)
    #expect(step.longestWaitNs < 205_000_000 && step.overflowBytes == 0, "\(step)")
    let after = link.run(seconds: 20)
    #expect(after.longestWaitNs < 150_000_000, "\(after)")
    #expect(after.bitsPerSecond > 1_700_000, "\(after)")
  }

  /// 100 parts in a million are common; this is ten times as much.
  @Test(arguments: [-0.001, 0.001])
  func clockThatDriftsIsNoQueue(drift: Double) {
    var link = SimulatedLink(maximum: 2_500_000)
    link.clockDrift = drift
    _ = link.run(seconds: 30)
    #expect(link.control.mediaBitsPerSecond == 2_500_000)
  }

  /// Their rate is not the link's.
  @Test func packetsInGroupsFloodNothing() {
    var link = SimulatedLink(maximum: 4_000_000)
    link.isGrouped = true
    link.bitsPerSecond = 1e6
    _ = link.run(seconds: 10)
    let figures = link.run(seconds: 30)
    #expect((0.5...1.05).contains(figures.bitsPerSecond / 1e6), "\(figures)")
    #expect(figures.p95WaitNs < 200_000_000, "\(figures)")
  }

  /// Without reports on arrivals, the delay of requests shows a full queue, also once more if the
  /// bitrate was still too high. What it loses would take 3 to 7 s to send again.
  @Test(arguments: [(4e6, 400e3), (1.5e6, 400e3), (2.5e6, 500e3)], 1...3 as ClosedRange<UInt64>)
  func requestsThatComeLateShowAnOverload(rates: (Double, Double), seed: UInt64) {
    var link = SimulatedLink(maximum: Int(rates.0), reportsArrivals: false, seed: seed)
    link.jitterNs = 3_000_000
    link.bitsPerSecond = 1.1 * rates.0
    _ = link.run(seconds: 5 + 0.3 * Double(seed))
    link.bitsPerSecond = rates.1
    let overload = link.run(seconds: 3)
    #expect(link.control.restarts > 0 && overload.outageNs < 1_000_000_000, "\(overload)")
    let after = link.run(seconds: 12)
    #expect(after.outageNs < 1_000_000_000 && after.bitsPerSecond > 0.5 * rates.1, "\(after)")
  }

  /// Without reports on arrivals, what is requested again shows it, before the next report does.
  @Test func requestsLowerTheBitrateAtOnce() {
    var link = SimulatedLink(maximum: 1_500_000, reportsArrivals: false)
    _ = link.run(seconds: 5)
    link.bitsPerSecond = 400_000
    let overload = link.run(seconds: 2)
    #expect(link.control.mediaBitsPerSecond < 500_000)
    // They come later than a round trip, so a queue is full, and what it lost is given up.
    #expect(link.control.restarts > 0 && overload.outageNs < 1_000_000_000, "\(overload)")
    let figures = link.run(seconds: 15)
    #expect((0.6...1.2).contains(figures.bitsPerSecond / 400_000), "\(figures)")
    link.bitsPerSecond = 100e6
    #expect(link.run(seconds: 20).recoveredAfter != nil)
  }

  /// Requests that come within a round trip show no full queue, and nothing is given up.
  @Test(arguments: [0.05, 0.4], 1...4 as ClosedRange<UInt64>)
  func lossesThatAreOnlyRequestedGiveUpNothing(share: Double, seed: UInt64) {
    var link = SimulatedLink(maximum: 1_500_000, reportsArrivals: false, seed: seed)
    link.lostShare = share
    _ = link.run(seconds: 20)
    #expect(link.control.restarts == 0 && !link.control.repeatsTwice)
  }

  /// A full queue needs fewer packets, and a path that loses some by chance gets more.
  @Test func retransmissionsAreDoubledWithoutQueueAlone() {
    var link = SimulatedLink()
    link.lostShare = 0.05
    link.bitsPerSecond = 6e6
    _ = link.run(seconds: 5)
    #expect(link.control.repeatsTwice)
    link.bitsPerSecond = 1e6
    _ = link.run(seconds: 0.5)
    #expect(!link.control.repeatsTwice)
    _ = link.run(seconds: 10)
    #expect(link.control.repeatsTwice)
  }

  @Test func soundSuffersLast() {
    var link = SimulatedLink(maximum: 1_000_000)
    link.bitsPerSecond = 400_000
    _ = link.run(seconds: 10)
    #expect(link.control.soundBitsPerSecond == 96_000)
    link.bitsPerSecond = 100_000
    _ = link.run(seconds: 10)
    #expect(link.control.soundBitsPerSecond == 32_000)
  }

  @Test func malformedArrivalsDoNotTrap() {
    var control = BitrateControl(minimum: 150_000, maximum: 2_000_000)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<3_000 {
      var report = WebRTCReport()
      report.packetsExpected = .random(in: 0...100, using: &generator)
      report.packetsLost = .random(in: -100...200, using: &generator)
      report.packetsRequested = .random(in: 0...1000, using: &generator)
      report.requestDelayNs = Bool.random() ? nil : .random(in: 0...(1 << 62), using: &generator)
      report.roundTripNs = Bool.random() ? nil : .random(in: 0...(1 << 62), using: &generator)
      report.arrivals = (0..<20).map { _ in
        PacketArrival(
          sentNs: .random(in: 0...(1 << 62), using: &generator),
          arrivedNs: Bool.random() ? nil : .random(in: 0...(1 << 62), using: &generator),
          byteCount: .random(in: 0...65_535, using: &generator))
      }
      _ = control.adapt(to: report, nowNs: .random(in: 0...(1 << 62), using: &generator))
      #expect((150_000...2_000_000).contains(control.bitsPerSecond))
    }
  }
}
