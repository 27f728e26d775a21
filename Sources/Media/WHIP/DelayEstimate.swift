/// What the peer reports about a packet.
public struct PacketArrival: Hashable, Sendable {
  public var sentNs: UInt64
  /// By the peer's clock; nil if it is lost.
  public var arrivedNs: UInt64?
  public var byteCount: Int

  public init(sentNs: UInt64, arrivedNs: UInt64?, byteCount: Int) {
    self.sentNs = sentNs
    self.arrivedNs = arrivedNs
    self.byteCount = byteCount
  }
}

/// The rate that a path carries without a growing queue, estimated from the times at which packets
/// arrive: the delay-based half of Google Congestion Control (draft-ietf-rmcat-gcc-02, section 5).
struct DelayEstimate: Hashable, Sendable {
  private(set) var bitsPerSecond: Double
  private var trend = DelayTrend()
  private var throughput = Throughput()
  private var trains = PacketTrains()
  private var jumps = Jumps()
  /// The delays now and without a queue, with the difference of the clocks.
  private var delayMs = 0.0
  private var leastDelayMs = Double.infinity
  private var queueMs = 0.0
  private var changedNs: UInt64 = 0
  private var decreasedNs: UInt64 = 0
  /// The throughput at which queues grew before, averaged.
  private var capacity: Double?
  /// The present overload, or the last one.
  private(set) var overload: Overload?

  /// The part of the throughput that lets a queue drain.
  private static let decrease = 0.85
  /// What varies without a queue that stays, as when one picture is large.
  private static let gentleDecrease = 0.95
  /// Where no queue has grown before, or the path carries more than it did then.
  private static let fastGrowth = 1.2
  /// Within these shares of the capacity, growth is careful.
  private static let nearness = 0.85...1.1
  private static let packetBits = 9600.0
  private static let jumpFrom = 1.5
  private static let longestJump = 2.0
  /// Below what the path carried, once the queue has drained.
  private static let returnGrowth = 1.6
  /// A queue that does not grow, but stays this long, is to drain; a short one may.
  private static let queueMs = (short: 40.0, long: 80.0)
  /// A long queue drains within a second, at this share of the throughput at least.
  private static let leastDecrease = 0.4
  /// A queue of this length is an overload, if this many times what the path carries is sent.
  private static let overload = (queueMs: 100.0, factor: 1.35, pauseNs: 1_500_000_000 as UInt64)

  init(bitsPerSecond: Double) { self.bitsPerSecond = bitsPerSecond }

  /// Takes what one report says.
  mutating func update(_ arrivals: [PacketArrival], roundTripNs: UInt64, nowNs: UInt64) {
    for arrival in arrivals {
      throughput.add(arrival)
      let isAfterOverload = overload.map { arrival.sentNs > $0.untilNs } ?? true
      if isAfterOverload { trains.add(arrival) }
      guard let arrivedNs = arrival.arrivedNs else { continue }
      if isAfterOverload { trend.add(arrival.sentNs, arrivedNs) }
      delayMs = Double(Int64(bitPattern: arrivedNs &- arrival.sentNs)) / 1e6
      leastDelayMs = min(leastDelayMs, delayMs)
    }
    let elapsed = changedNs == 0 ? 0 : Double(min(nowNs &- changedNs, 1_000_000_000)) / 1e9
    changedNs = nowNs
    // Clocks drift, and a path may become a longer one.
    leastDelayMs += elapsed
    queueMs = delayMs - leastDelayMs
    if isOverloaded(arrivals, queueMs, nowNs) { return }
    switch trend.signal {
    case .overuse: reduce(queueMs, roundTripNs, nowNs)
    case .normal where queueMs > Self.queueMs.long: reduce(queueMs, roundTripNs, nowNs)
    case .normal where queueMs < Self.queueMs.short:
      if !jump(roundTripNs, nowNs) { grow(for: elapsed, roundTripNs) }
    case .normal, .underuse: break
    }
  }

  /// The bounds of the bitrate; what an encoder does not use cannot be estimated.
  mutating func limit(_ minimum: Double, _ maximum: Double) {
    bitsPerSecond = min(maximum, max(minimum, bitsPerSecond))
  }

  /// Whether no queue has grown on the path lately, so that what is lost was not too much.
  func isCalm(_ nowNs: UInt64) -> Bool {
    let isAfterOverload = overload.map { nowNs > $0.untilNs &+ Self.overload.pauseNs } ?? true
    return isAfterOverload && trend.signal != .overuse && queueMs < Self.queueMs.short
  }

  /// Whether the queue of an overload drains, or has yet to begin.
  private mutating func isOverloaded(
    _ arrivals: [PacketArrival], _ queueMs: Double, _ nowNs: UInt64
  ) -> Bool {
    let before = arrivals.prefix { packet in
      overload.map { packet.sentNs <= $0.untilNs } ?? true
    }
    if !before.isEmpty, overload != nil {
      overload?.update(
        Array(before), carried: throughput.carriedLately, queueNs: queueMs * 1e6)
    } else {
      if let overload, nowNs < overload.untilNs &+ Self.overload.pauseNs { return false }
      guard queueMs > Self.overload.queueMs, let offered = throughput.offered,
        let carried = throughput.carriedLately, offered > Self.overload.factor * carried
      else { return false }
      overload = Overload(offered: offered, carried: carried, nowNs: nowNs)
      overload?.update(arrivals, carried: nil, queueNs: queueMs * 1e6)
      (decreasedNs, trend) = (nowNs, DelayTrend())
      trains.reset()
      jumps.noteQueue(nowNs)
    }
    guard let overload else { return false }
    // Without losses it may have been a moment of a busy machine.
    capacity = overload.losesTooMuch ? overload.carried : nil
    bitsPerSecond = min(bitsPerSecond, Self.decrease * overload.carried)
    return true
  }

  private mutating func reduce(_ queueMs: Double, _ roundTripNs: UInt64, _ nowNs: UInt64) {
    guard let carried = throughput.carried, let offered = throughput.offered,
      nowNs > decreasedNs &+ max(roundTripNs, 200_000_000)
    else { return }
    decreasedNs = nowNs
    trains.reset()
    jumps.noteQueue(nowNs)
    // Everything arrives as fast as it is sent: the encoder sends little, or unevenly.
    if carried > 0.9 * offered { return bitsPerSecond *= Self.gentleDecrease }
    if let capacity, abs(carried - capacity) < 0.5 * capacity {
      self.capacity = 0.9 * capacity + 0.1 * carried
    } else {
      capacity = carried
    }
    let share = Self.decrease - max(0, queueMs - Self.queueMs.long) / 400
    bitsPerSecond = min(bitsPerSecond, max(Self.leastDecrease, share) * carried)
  }

  /// Takes the rate at which the packets of pictures arrive, if that is far above the bitrate.
  private mutating func jump(_ roundTripNs: UInt64, _ nowNs: UInt64) -> Bool {
    guard jumps.allow(nowNs, roundTripNs), let carried = trains.carried,
      carried > Self.jumpFrom * bitsPerSecond
    else { return false }
    bitsPerSecond = min(Self.decrease * carried, Self.longestJump * bitsPerSecond)
    capacity = nil
    trains.reset()
    jumps.noteJump(nowNs)
    return true
  }

  private mutating func grow(for seconds: Double, _ roundTripNs: UInt64) {
    guard let carried = throughput.carried else { return }
    if let capacity, carried > capacity * Self.nearness.upperBound { self.capacity = nil }
    let isNear = capacity.map { Self.nearness.contains(bitsPerSecond / $0) } ?? false
    let response = Double(roundTripNs) / 1e9 + 0.1
    let isBelow = capacity.map { bitsPerSecond < Self.nearness.lowerBound * $0 } ?? false
    let growth = isBelow ? Self.returnGrowth : Self.fastGrowth
    let wanted =
      isNear
      ? bitsPerSecond + max(4000, Self.packetBits / response) * seconds
      : bitsPerSecond * (1 + (growth - 1) * seconds)
    // An encoder that has little to send proves little, except of what the path carried before.
    if isBelow || wanted < 1.5 * carried + 10_000 { bitsPerSecond = max(bitsPerSecond, wanted) }
  }
}

/// When the bitrate may jump. After a jump that was followed by a queue, the next waits twice as
/// long: the path passes packets on in groups, and says little about its rate.
private struct Jumps: Hashable, Sendable {
  private static let calmNs: UInt64 = 400_000_000
  private static let pauseNs: (first: UInt64, longest: UInt64) = (1_000_000_000, 16_000_000_000)
  /// A queue this soon after a jump is its consequence.
  private static let consequenceNs: UInt64 = 1_500_000_000

  private var queueNs: UInt64 = 0
  private var jumpedNs: UInt64 = 0
  private var pauseNs: UInt64 = 0

  mutating func noteJump(_ nowNs: UInt64) { jumpedNs = nowNs }

  mutating func noteQueue(_ nowNs: UInt64) {
    queueNs = nowNs
    if jumpedNs > 0, nowNs < jumpedNs &+ Self.consequenceNs {
      pauseNs = min(Self.pauseNs.longest, max(Self.pauseNs.first, 2 * pauseNs))
      jumpedNs = 0
    }
  }

  mutating func allow(_ nowNs: UInt64, _ roundTripNs: UInt64) -> Bool {
    if jumpedNs > 0, nowNs > jumpedNs &+ 2 * Self.consequenceNs { pauseNs = 0 }
    let calmNs = max(Self.calmNs, 2 * roundTripNs)
    return nowNs > queueNs &+ calmNs &+ pauseNs
      && nowNs > jumpedNs &+ Self.calmNs / 2 &+ roundTripNs
  }
}

/// What was sent in half a second, and how fast it arrived.
private struct Throughput: Hashable, Sendable {
  private static let windowNs: UInt64 = 500_000_000
  private static let late = (packets: 15, windowNs: 150_000_000 as UInt64)
  private var packets: [PacketArrival] = []

  mutating func add(_ packet: PacketArrival) {
    packets.append(packet)
    let goneCount =
      packets.firstIndex { $0.sentNs &+ Self.windowNs >= packet.sentNs } ?? packets.count
    packets.removeFirst(goneCount)
  }

  /// Bits a second, by the times of sending; nil until there is enough to tell.
  var offered: Double? { Self.rate(packets.map { ($0.sentNs, $0.byteCount) }) }

  /// Bits a second, by the times of arrival.
  var carried: Double? {
    Self.rate(
      packets.compactMap { packet in packet.arrivedNs.map { ($0, packet.byteCount) } })
  }

  /// The same of what arrived last: while a queue drains, what the path carries. Nil until there
  /// is enough to tell.
  var carriedLately: Double? {
    let arrived = packets.compactMap { packet in
      packet.arrivedNs.map { (timeNs: $0, byteCount: packet.byteCount) }
    }
    guard let newest = arrived.last else { return nil }
    let late = arrived.reversed().enumerated().prefix { index, packet in
      index < Self.late.packets || packet.timeNs &+ Self.late.windowNs >= newest.timeNs
    }
    guard late.count >= Self.late.packets, let first = late.last?.element,
      newest.timeNs > first.timeNs
    else { return nil }
    let byteCount = late.reduce(0) { $0 + $1.element.byteCount } - first.byteCount
    return Double(byteCount * 8) / (Double(newest.timeNs - first.timeNs) / 1e9)
  }

  private static func rate(_ packets: [(timeNs: UInt64, byteCount: Int)]) -> Double? {
    guard let first = packets.first, let last = packets.last, last.timeNs > first.timeNs,
      last.timeNs - first.timeNs >= windowNs / 4
    else { return nil }
    let byteCount = packets.dropFirst().reduce(0) { $0 + $1.byteCount }
    return Double(byteCount * 8) / (Double(last.timeNs - first.timeNs) / 1e9)
  }
}

/// Whether queues on the path grow: the slope of the delay over the last groups of packets,
/// compared with a threshold that adapts to the path's own variation.
private struct DelayTrend: Hashable, Sendable {
  enum Signal { case normal, overuse, underuse }

  /// Packets that left together.
  private struct Group: Hashable, Sendable {
    var firstSentNs: UInt64
    var lastSentNs: UInt64
    var arrivedNs: UInt64
  }
  private struct Sample: Hashable, Sendable {
    let arrivedMs: Double
    let delayMs: Double
  }

  private static let groupNs: UInt64 = 5_000_000
  private static let sampleCount = 20
  private static let smoothing = 0.9
  private static let gain = 4.0
  /// A difference of this length is a pause or another clock, not a queue.
  private static let longestMs = 3000.0

  private(set) var signal = Signal.normal
  private var current: Group?
  private var previous: Group?
  private var startNs: UInt64?
  private var delayMs = 0.0
  private var smoothedMs = 0.0
  private var samples: [Sample] = []
  private var groupCount = 0
  private var threshold = 12.5
  private var overuseMs = 0.0
  private var before = 0.0

  mutating func add(_ sentNs: UInt64, _ arrivedNs: UInt64) {
    let next = Group(firstSentNs: sentNs, lastSentNs: sentNs, arrivedNs: arrivedNs)
    guard var group = current else {
      current = next
      return
    }
    if sentNs < group.firstSentNs { return }
    if sentNs - group.firstSentNs <= Self.groupNs {
      group.lastSentNs = max(group.lastSentNs, sentNs)
      group.arrivedNs = max(group.arrivedNs, arrivedNs)
      current = group
      return
    }
    if let previous { compare(group, with: previous) }
    previous = group
    current = next
  }

  private mutating func compare(_ group: Group, with previous: Group) {
    let sentMs = Double(group.lastSentNs &- previous.lastSentNs) / 1e6
    let arrivedMs = Double(Int64(bitPattern: group.arrivedNs &- previous.arrivedNs)) / 1e6
    guard arrivedMs >= 0, max(arrivedMs, sentMs) < Self.longestMs else {
      self = DelayTrend()
      return
    }
    let startNs = startNs ?? group.arrivedNs
    self.startNs = startNs
    groupCount += 1
    delayMs += arrivedMs - sentMs
    smoothedMs = Self.smoothing * smoothedMs + (1 - Self.smoothing) * delayMs
    let timeMs = Double(Int64(bitPattern: group.arrivedNs &- startNs)) / 1e6
    samples.append(Sample(arrivedMs: timeMs, delayMs: smoothedMs))
    if samples.count > Self.sampleCount { samples.removeFirst() }
    guard samples.count == Self.sampleCount else { return }
    judge(slope * Double(min(groupCount, 60)) * Self.gain, over: sentMs)
    adapt(over: min(arrivedMs, 100))
  }

  /// By least squares.
  private var slope: Double {
    let count = Double(samples.count)
    let meanX = samples.reduce(0) { $0 + $1.arrivedMs } / count
    let meanY = samples.reduce(0) { $0 + $1.delayMs } / count
    var (above, below) = (0.0, 0.0)
    for sample in samples {
      above += (sample.arrivedMs - meanX) * (sample.delayMs - meanY)
      below += (sample.arrivedMs - meanX) * (sample.arrivedMs - meanX)
    }
    return below == 0 ? 0 : above / below
  }

  private mutating func judge(_ value: Double, over sentMs: Double) {
    if value > threshold {
      overuseMs += sentMs
      if overuseMs > 10, value >= before { signal = .overuse }
    } else {
      overuseMs = 0
      signal = value < -threshold ? .underuse : .normal
    }
    before = value
  }

  private mutating func adapt(over elapsedMs: Double) {
    let size = abs(before)
    if size > threshold + 15 { return }
    let speed = size < threshold ? 0.039 : 0.0087
    threshold = min(600, max(6, threshold + speed * (size - threshold) * elapsedMs))
  }
}
