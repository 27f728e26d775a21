#if Media
  /// What is known of a connection at one moment.
  struct LinkSample: Equatable {
    var nowNs: UInt64
    /// Bytes that the peer has received so far.
    var bytesArrived: UInt64
    /// Nil if it is unknown.
    var roundTripNs: UInt64?
    /// Packets so far.
    var packetsSent: UInt64 = 0
    var packetsLost: UInt64 = 0
    /// Those that were not sent in time.
    var packetsDropped: UInt64 = 0
    /// What waits in the kernel.
    var bytesUnsent: UInt64 = 0
    /// How much media waits for the connection.
    var backlogNs: UInt64 = 0
  }

  /// Adapts the bitrate of pictures to a connection that reports no arrivals: SRT and TCP. A queue
  /// that grows, here or on the way, shows that the link carries less; what arrives shows how much.
  struct LinkControl {
    private(set) var bitsPerSecond: Int
    private var maximum: Int
    private var before: LinkSample?
    private var leastRoundTripNs = UInt64.max
    /// What the link carried when a queue grew, and when that was.
    private var capacity: Double?
    private var queuedNs: UInt64 = 0
    private var loweredNs: UInt64 = 0

    private static let intervalNs: UInt64 = 400_000_000
    /// Longer waits are a queue that grows.
    private static let backlogNs: UInt64 = 250_000_000
    private static let queueNs: UInt64 = 150_000_000
    /// A queue that is full is shorter than that on some links.
    private static let fullQueueNs: UInt64 = 60_000_000
    private static let lostShare = 0.1
    /// SRT repeats what a path loses at random; what is not sent in time is too much.
    private static let droppedShare = 0.02
    private static let fewestPackets = 20.0
    private static let decrease = 0.8
    /// What does not arrive for a moment says little.
    private static let leastDecrease = 0.5
    /// The time for which a lower bitrate has no effect yet: the queue drains.
    private static let drainNs: UInt64 = 1_000_000_000
    private static let growth = (careful: 0.03, fast: 0.35)
    /// Growth is careful below what the link carried, for a while.
    private static let memoryNs: UInt64 = 4_000_000_000
    private static let fewBytes = 8192
    private static let nearness = 0.75
    /// The share of the requested bitrate that remains.
    private static let leastShare = 0.1
    private static let least = 100_000

    init(maximum: Int) {
      self.maximum = maximum
      bitsPerSecond = maximum
    }

    var minimum: Int { min(maximum, max(Self.least, Int(Double(maximum) * Self.leastShare))) }

    /// Changes the requested bitrate. One that was lowered stays, unless it is higher.
    mutating func limit(to maximum: Int) {
      if bitsPerSecond == self.maximum { bitsPerSecond = maximum }
      self.maximum = maximum
      bitsPerSecond = min(maximum, max(minimum, bitsPerSecond))
    }

    /// - Returns: whether the bitrate has changed.
    mutating func update(_ sample: LinkSample) -> Bool {
      guard let before else {
        self.before = sample
        return false
      }
      guard sample.nowNs >= before.nowNs &+ Self.intervalNs else { return false }
      self.before = sample
      let seconds = Double(sample.nowNs - before.nowNs) / 1e9
      // A connection that began anew counts from 0.
      guard sample.bytesArrived >= before.bytesArrived else { return false }
      let carried = Double(sample.bytesArrived - before.bytesArrived) * 8 / seconds
      let old = bitsPerSecond
      if hasQueue(sample, before, seconds) {
        lower(carried, sample)
      } else {
        grow(sample, seconds)
      }
      return bitsPerSecond != old
    }

    private mutating func hasQueue(
      _ sample: LinkSample, _ before: LinkSample, _ seconds: Double
    ) -> Bool {
      if let time = sample.roundTripNs {
        // A path may become a longer one.
        let driftNs = UInt64(seconds * 2_000_000)
        leastRoundTripNs = min(
          leastRoundTripNs == .max ? .max : leastRoundTripNs &+ driftNs, time)
      }
      let queueNs = sample.roundTripNs.map { $0 &- leastRoundTripNs } ?? 0
      if queueNs > Self.queueNs || waitNs(sample) > Double(Self.backlogNs) { return true }
      func share(_ count: KeyPath<LinkSample, UInt64>) -> Double {
        let sent = Double(sample.packetsSent) - Double(before.packetsSent)
        guard sent >= Self.fewestPackets else { return 0 }
        return (Double(sample[keyPath: count]) - Double(before[keyPath: count])) / sent
      }
      return share(\.packetsDropped) > Self.droppedShare
        || queueNs > Self.fullQueueNs && share(\.packetsLost) > Self.lostShare
    }

    /// How long media wait for the kernel to send them. Without bytes there, what waits in the
    /// pipeline waits for the encoder.
    private func waitNs(_ sample: LinkSample) -> Double {
      if sample.bytesUnsent < Self.fewBytes { return 0 }
      let unsentNs = Double(sample.bytesUnsent) * 8e9 / Double(max(1, bitsPerSecond))
      return Double(sample.backlogNs) + unsentNs
    }

    private mutating func lower(_ carried: Double, _ sample: LinkSample) {
      queuedNs = sample.nowNs
      guard sample.nowNs >= loweredNs &+ Self.drainNs else { return }
      loweredNs = sample.nowNs
      capacity = carried
      let wanted = min(Double(bitsPerSecond), carried) * Self.decrease
      let least = Double(bitsPerSecond) * Self.leastDecrease
      bitsPerSecond = max(minimum, Int(max(least, wanted)))
    }

    private mutating func grow(_ sample: LinkSample, _ seconds: Double) {
      // What waits is to drain first.
      guard waitNs(sample) < Double(Self.backlogNs / 2), bitsPerSecond < maximum else { return }
      if sample.nowNs > queuedNs &+ Self.memoryNs { capacity = nil }
      let isNear = capacity.map { Double(bitsPerSecond) > Self.nearness * $0 } ?? false
      let share = (isNear ? Self.growth.careful : Self.growth.fast) * min(seconds, 1)
      bitsPerSecond = min(maximum, bitsPerSecond + max(1000, Int(Double(bitsPerSecond) * share)))
    }
  }
#endif
