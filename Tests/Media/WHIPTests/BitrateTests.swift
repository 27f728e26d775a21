import Testing

@testable import WHIP

/// A sender under control, and a path to its receiver, in simulated time.
private struct SimulatedPath {
  private static let packetBytes = 1200
  private static let stepNs: UInt64 = 1_000_000
  private static let frameNs: UInt64 = 33_000_000
  private static let reportNs: UInt64 = 100_000_000
  private static let delayNs: UInt64 = 20_000_000
  private static let queueNs: UInt64 = 250_000_000

  var control = BitrateControl(minimum: 150_000, maximum: 2_500_000)
  /// What the path carries.
  var bitsPerSecond = 100e6
  /// The share that is lost in any case: evenly.
  var lostShare = 0.0
  /// Whether the receiver reports the arrival of each packet.
  let reportsArrivals: Bool
  private var nowNs: UInt64 = 1_000_000_000
  private var freeNs: UInt64 = 0
  private var frame = 0
  private var unsentBytes = 0
  private var allowedNs: UInt64 = 0
  private var lossCredit = 0.0
  private var report = WebRTCReport()
  private(set) var offeredBytes = 0
  private(set) var longestQueueNs: UInt64 = 0
  private(set) var queueNs: UInt64 = 0

  init(reportsArrivals: Bool) { self.reportsArrivals = reportsArrivals }

  mutating func run(seconds: Double) {
    offeredBytes = 0
    longestQueueNs = 0
    for _ in 0..<Int(seconds * 1000) {
      nowNs += Self.stepNs
      if nowNs % Self.frameNs == 0 { encode() }
      while unsentBytes > 0, control.pace == nil || allowedNs <= nowNs { send() }
      if nowNs % Self.reportNs == 0 { deliver() }
    }
  }

  /// Pictures differ in size, and each hundredth is a key frame.
  private mutating func encode() {
    frame += 1
    let usual = Double(control.mediaBitsPerSecond) / 8 * Double(Self.frameNs) / 1e9
    let share = frame % 100 == 0 ? 4.0 : [0.7, 1.2, 0.9, 1.1, 1.0][frame % 5]
    // The pictures after a key frame are smaller.
    unsentBytes += Int(usual * (frame % 100 < 10 ? share * 0.7 : share))
  }

  private mutating func send() {
    let bytes = min(unsentBytes, Self.packetBytes)
    unsentBytes -= bytes
    if let pace = control.pace {
      allowedNs = max(allowedNs, nowNs) + UInt64(Double(bytes * 8) / Double(pace) * 1e9)
    }
    offeredBytes += bytes
    report.packetsExpected += 1
    queueNs = freeNs > nowNs ? freeNs - nowNs : 0
    longestQueueNs = max(longestQueueNs, queueNs)
    lossCredit += lostShare
    let isLost = queueNs >= Self.queueNs || lossCredit >= 1
    if lossCredit >= 1 { lossCredit -= 1 }
    if isLost {
      report.packetsLost += 1
    } else {
      freeNs = max(freeNs, nowNs) + UInt64(Double(bytes * 8) / bitsPerSecond * 1e9)
    }
    guard reportsArrivals else { return }
    report.arrivals.append(
      PacketArrival(
        sentNs: nowNs, arrivedNs: isLost ? nil : freeNs + Self.delayNs, byteCount: bytes))
  }

  private mutating func deliver() {
    report.roundTripNs = 2 * Self.delayNs + queueNs
    _ = control.adapt(to: report, nowNs: nowNs)
    report = WebRTCReport()
  }

  /// The bitrate that left in the last run.
  func offered(over seconds: Double) -> Double { Double(offeredBytes * 8) / seconds }
}

@Suite struct BitrateTests {
  @Test(arguments: [true, false], [500_000.0, 1_000_000, 1_800_000])
  func bitrateFitsSlowPathAndReturnsWhenItIsFreed(reportsArrivals: Bool, capacity: Double) {
    var path = SimulatedPath(reportsArrivals: reportsArrivals)
    path.run(seconds: 5)
    #expect(path.control.bitsPerSecond == 2_500_000)
    path.bitsPerSecond = capacity
    path.run(seconds: 5)
    path.run(seconds: 15)
    let share = path.offered(over: 15) / capacity
    #expect(share > 0.7 && share < 1.05, "\(share)")
    if reportsArrivals { #expect(path.longestQueueNs < 150_000_000) }
    path.bitsPerSecond = 100e6
    path.run(seconds: 30)
    #expect(path.control.bitsPerSecond == 2_500_000)
  }

  @Test func fewLossesDoNotLowerBitrate() {
    for reportsArrivals in [true, false] {
      var path = SimulatedPath(reportsArrivals: reportsArrivals)
      path.lostShare = 0.05
      path.run(seconds: 20)
      #expect(path.control.bitsPerSecond == 2_500_000)
    }
  }

  @Test func manyLossesLowerBitrateWithinBounds() {
    var path = SimulatedPath(reportsArrivals: false)
    path.lostShare = 0.4
    path.run(seconds: 3)
    #expect(path.control.bitsPerSecond < 1_800_000)
    path.run(seconds: 60)
    #expect(path.control.bitsPerSecond == 150_000)
  }

  @Test func receiverBoundsBitrateUntilItAllowsMore() {
    var control = BitrateControl(minimum: 200_000, maximum: 2_000_000)
    var report = WebRTCReport()
    report.maximumBitsPerSecond = 600_000
    #expect(control.adapt(to: report, nowNs: 1) && control.isLimited)
    #expect(control.mediaBitsPerSecond == 600_000)
    // Also below the encoder's own bound.
    report.maximumBitsPerSecond = 100_000
    #expect(control.adapt(to: report, nowNs: 2) && control.mediaBitsPerSecond == 100_000)
    #expect(control.adapt(to: WebRTCReport(), nowNs: 3) == false)
    report.maximumBitsPerSecond = 9_000_000
    #expect(control.adapt(to: report, nowNs: 4) && control.mediaBitsPerSecond == 2_000_000)
    // An encoder cannot make pictures of nothing, and a pace of 0 would be none.
    report.maximumBitsPerSecond = 1
    #expect(control.adapt(to: report, nowNs: 5) && control.mediaBitsPerSecond == 30_000)
  }

  @Test func retransmissionsAreTakenFromEncoder() {
    var control = BitrateControl(minimum: 200_000, maximum: 2_000_000)
    _ = control.adapt(to: WebRTCReport(), nowNs: 1_000_000_000)
    var report = WebRTCReport()
    for second in 2...9 as ClosedRange<UInt64> {
      report.repeatedBytes = 50_000
      _ = control.adapt(to: report, nowNs: second * 1_000_000_000)
    }
    #expect(control.mediaBitsPerSecond == 1_600_000 && control.bitsPerSecond == 2_000_000)
    report.repeatedBytes = 0
    _ = control.adapt(to: report, nowNs: 10_000_000_000)
    #expect(control.mediaBitsPerSecond == 2_000_000)
  }

  @Test func requestedBitrateIsLimit() {
    var control = BitrateControl(minimum: 200_000, maximum: 2_000_000)
    control.limit(to: 3_000_000)
    #expect(control.mediaBitsPerSecond == 3_000_000)
    control.limit(to: 100_000)
    #expect(control.mediaBitsPerSecond == 100_000 && control.minimum == 100_000)
    // Also beside an estimate.
    var path = SimulatedPath(reportsArrivals: true)
    path.run(seconds: 1)
    path.control.limit(to: 4_000_000)
    #expect(path.control.mediaBitsPerSecond == 4_000_000)
  }
}
