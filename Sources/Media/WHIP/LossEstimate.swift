/// The rate by losses, once a second. Without reports on arrivals it is the only estimate; then
/// requests for packets, which come sooner than reports, show that far too much is sent.
struct LossEstimate: Hashable, Sendable {
  var bitsPerSecond: Double
  private var sum = WebRTCReport()
  private var judgedNs: UInt64?
  private var leastRoundTripNs = UInt64.max
  private(set) var roundTripNs: UInt64?
  private(set) var share: Double?
  /// The share that the path loses at any rate.
  private var ownShare = 0.0
  private var cut: Cut?
  private var requests = Requests()
  private var ignoredUntilNs: UInt64 = 0
  /// The wait in the queue that the newest requests show to be full; nil for others.
  private(set) var overflowNs: UInt64?

  /// A rate that was lowered, and the losses at it.
  private struct Cut: Hashable, Sendable {
    let bitsPerSecond: Double
    let share: Double
  }

  private static let intervalNs: UInt64 = 900_000_000
  /// A round trip that is longer by this has a queue.
  private static let queueNs: UInt64 = 80_000_000
  /// What requests leave of the rate at least.
  private static let leastShare = (byChance: 0.3, ofQueue: 0.1)
  private static let growth = 1.1
  /// Where delays bound the rate, losses that have ended need not.
  private static let growthBesideDelays = 1.5
  private static let few = 0.02
  private static let many = 0.1
  /// Losses that are not a third fewer at this share of the rate are the path's own.
  private static let comparison = (rate: 0.87, share: 0.67)
  /// More is not believed to be.
  private static let mostOwnShare = 0.25
  private static let forgetting = 0.25

  init(bitsPerSecond: Double) { self.bitsPerSecond = bitsPerSecond }

  /// Losses are not counted for a while.
  mutating func ignoreReports(untilNs: UInt64) { ignoredUntilNs = untilNs }

  mutating func add(_ report: WebRTCReport, used: Double, hasDelays: Bool, nowNs: UInt64) {
    if nowNs < ignoredUntilNs {
      (sum, judgedNs) = (WebRTCReport(), nowNs)
    } else {
      sum.packetsExpected += report.packetsExpected
      sum.packetsLost += report.packetsLost
    }
    if let time = report.roundTripNs {
      roundTripNs = time
      leastRoundTripNs = min(leastRoundTripNs, time)
    }
    let requested = requests.add(report, used: used, nowNs: nowNs)
    overflowNs = nil
    if !hasDelays, let requested {
      // A full queue delays the request too; what is lost by chance is requested sooner.
      if let delayNs = requests.delayNs, leastRoundTripNs < .max - Self.queueNs,
        delayNs > leastRoundTripNs + Self.queueNs
      {
        overflowNs = delayNs - leastRoundTripNs
      }
      let least = overflowNs == nil ? Self.leastShare.byChance : Self.leastShare.ofQueue
      bitsPerSecond = used * max(least, 1 - requested) * 0.85
      // Reports on the time before are outdated.
      judgedNs = nowNs
      sum = WebRTCReport()
      return
    }
    if let judgedNs, nowNs < judgedNs &+ Self.intervalNs { return }
    guard let share = sum.lostShare else { return }
    judgedNs = nowNs
    self.share = share
    let deviation = share > Self.mostOwnShare ? 0 : deviation(of: sum.packetsExpected)
    sum = WebRTCReport()
    let hasQueue = roundTripNs.map { $0 > leastRoundTripNs &+ Self.queueNs } ?? false
    // The queue is full, and what is lost is what does not fit.
    if share >= Self.few, hasQueue, !hasDelays { return bitsPerSecond = used * (1 - share) * 0.85 }
    if !hasQueue { learn(share, used) }
    switch share - ownShare {
    case ..<(Self.few + deviation):
      bitsPerSecond *= hasDelays ? Self.growthBesideDelays : Self.growth
    case (Self.many + 2 * deviation)...: bitsPerSecond = used * (1 - 0.5 * (share - ownShare))
    default: break
    }
  }

  /// By how much the share of this number of packets differs from the path's own by chance.
  private func deviation(of packetCount: UInt64) -> Double {
    (ownShare * (1 - ownShare) / Double(max(1, packetCount))).squareRoot()
  }

  /// Whether fewer are lost at a lower rate.
  private mutating func learn(_ share: Double, _ used: Double) {
    // A second with few losses may be chance.
    if share < ownShare { ownShare += Self.forgetting * (share - ownShare) }
    guard let cut else {
      if share >= Self.many { cut = Cut(bitsPerSecond: used, share: share) }
      return
    }
    let isLess = share < Self.comparison.share * cut.share
    guard isLess || used < Self.comparison.rate * cut.bitsPerSecond else { return }
    if !isLess { ownShare = min(share, Self.mostOwnShare) }
    self.cut = nil
  }
}

/// Packets that the receiver requests again for the first time, as a share of what is sent.
private struct Requests: Hashable, Sendable {
  private static let windowNs: UInt64 = 300_000_000
  private static let pauseNs: UInt64 = 600_000_000
  private static let packetBits = 9600.0
  /// More than a path loses by itself.
  private static let tooMany = 0.25
  private static let fewest = 8

  private var count = 0
  private var beganNs: UInt64 = 0
  private var foundNs: UInt64 = 0
  /// The shortest time from a packet to its request.
  private(set) var delayNs: UInt64?

  /// - Returns: the share, if it is too large.
  mutating func add(_ report: WebRTCReport, used: Double, nowNs: UInt64) -> Double? {
    let requested = report.packetsRequested
    if count == 0 { (beganNs, delayNs) = (nowNs, nil) }
    count += requested
    if let time = report.requestDelayNs { delayNs = min(delayNs ?? time, time) }
    let elapsedNs = max(nowNs &- beganNs, Self.windowNs / 3)
    if elapsedNs > Self.windowNs {
      count = requested
      (beganNs, delayNs) = (nowNs, report.requestDelayNs)
    }
    let share = Double(count) * Self.packetBits / (used * Double(elapsedNs) / 1e9)
    guard count >= Self.fewest, share > Self.tooMany, nowNs > foundNs &+ Self.pauseNs else {
      return nil
    }
    (count, foundNs) = (0, nowNs)
    return min(1, share)
  }
}
