/// Adapts the bitrate to what the receiver reports, within bounds: Google Congestion Control
/// (draft-ietf-rmcat-gcc-02). The delays of packets show a queue that grows, where the receiver
/// reports them; losses are the second signal.
public struct BitrateControl: Hashable, Sendable {
  private let leastBitsPerSecond: Int
  public private(set) var maximum: Int
  /// What everything sent may use, retransmissions included.
  public private(set) var bitsPerSecond: Int
  /// Packets sent again so far.
  public private(set) var repeatedPackets = 0
  /// Until when no pictures are taken and nothing is sent again, because a queue on the way drains;
  /// 0 at first.
  public private(set) var pausedUntilNs: UInt64 = 0
  /// How often the pictures began anew with a key frame, because too much was lost to be sent
  /// again. What was sent before is then given up.
  public private(set) var restarts = 0
  /// When the last of the pauses after which they did began.
  private var restartedNs: UInt64 = 0
  /// Whether each lost packet is sent again twice, since the path loses some by chance: one that is
  /// lost once more is requested only a round trip later.
  public private(set) var repeatsTwice = false
  private var delays: DelayEstimate?
  private var loss: LossEstimate
  /// The receiver's own bound.
  private var receiverMaximum = Int.max
  private var repeatedBitsPerSecond = 0.0
  private var reportedNs: UInt64?
  private var encoderBitsPerSecond: Int

  private static let paceFactor = 2.5
  /// Receivers report losses every second or so.
  private static let lateReportsNs: UInt64 = 1_000_000_000
  private static let longestPauseNs: UInt64 = 1_000_000_000
  /// A receiver cannot demand less, which would be no picture.
  private static let leastReceiverMaximum = 30_000
  private static let sound = (usual: 96_000, least: 32_000)
  /// The smallest change that is passed to an encoder, as a share.
  private static let leastChange = 0.05

  /// - Parameter maximum: the requested bitrate, which is also the initial one.
  public init(minimum: Int, maximum: Int) {
    leastBitsPerSecond = minimum
    self.maximum = maximum
    bitsPerSecond = maximum
    encoderBitsPerSecond = maximum
    loss = LossEstimate(bitsPerSecond: Double(maximum))
  }

  public var minimum: Int { min(leastBitsPerSecond, maximum) }
  /// The encoder's part.
  public var mediaBitsPerSecond: Int { encoderBitsPerSecond }
  /// The share of packets lost in the last second; nil before the first report.
  public var lostShare: Double? { loss.share }
  /// Nil before the first report of it.
  public var roundTripNs: UInt64? { loss.roundTripNs }
  /// The rate at which the packets of one picture leave, so that they do not fill a queue on the
  /// way; nil for at once, if the path and the receiver allow what was requested.
  public var pace: Int? { isLimited ? Int(Double(bitsPerSecond) * Self.paceFactor) : nil }
  var isLimited: Bool { bitsPerSecond < maximum }
  /// That of the sound, which is the last to suffer: only where the pictures cannot give way.
  public var soundBitsPerSecond: Int {
    isLimited && bitsPerSecond <= minimum ? Self.sound.least : Self.sound.usual
  }

  /// Changes the requested bitrate. One that was lowered for the path stays, unless it is higher.
  public mutating func limit(to maximum: Int) {
    if !isLimited {
      loss.bitsPerSecond = Double(maximum)
      delays?.limit(Double(maximum), Double(maximum))
    }
    self.maximum = maximum
    settle()
    encoderBitsPerSecond = media
  }

  /// - Returns: whether the encoder's bitrate has changed.
  public mutating func adapt(to report: WebRTCReport, nowNs: UInt64) -> Bool {
    receiverMaximum = report.maximumBitsPerSecond ?? receiverMaximum
    countRepeated(report.repeatedBytes, nowNs)
    repeatedPackets += report.repeatedPackets
    if !report.arrivals.isEmpty {
      var delays = delays ?? DelayEstimate(bitsPerSecond: Double(bitsPerSecond))
      delays.update(report.arrivals, roundTripNs: report.roundTripNs ?? 0, nowNs: nowNs)
      delays.limit(Double(minimum), Double(maximum))
      self.delays = delays
      if let overload = delays.overload { pause(for: overload, nowNs) }
    }
    loss.add(report, used: Double(bitsPerSecond), hasDelays: delays != nil, nowNs: nowNs)
    if let queueNs = loss.overflowNs {
      restart(after: nowNs, untilNs: nowNs &+ min(queueNs, Self.longestPauseNs))
    }
    repeatsTwice = delays?.isCalm(nowNs) ?? false
    settle()
    let wanted = media
    let change = abs(Double(wanted - encoderBitsPerSecond))
    let isAtBound = wanted == maximum || wanted == minimum
    guard wanted != encoderBitsPerSecond,
      isAtBound || change >= Self.leastChange * Double(encoderBitsPerSecond)
    else { return false }
    encoderBitsPerSecond = wanted
    return true
  }

  private mutating func pause(for overload: Overload, _ nowNs: UInt64) {
    if overload.beganNs > restartedNs, overload.losesTooMuch {
      return restart(after: overload.beganNs, untilNs: overload.untilNs)
    }
    pause(untilNs: overload.untilNs)
  }

  private mutating func restart(after timeNs: UInt64, untilNs: UInt64) {
    restarts += 1
    restartedNs = timeNs
    pause(untilNs: untilNs)
  }

  private mutating func pause(untilNs: UInt64) {
    pausedUntilNs = untilNs
    // What the queue lost says nothing about the path.
    loss.ignoreReports(untilNs: untilNs &+ Self.lateReportsNs)
  }

  private mutating func settle() {
    loss.bitsPerSecond = min(Double(maximum), max(Double(minimum), loss.bitsPerSecond))
    let allowed = min(loss.bitsPerSecond, delays?.bitsPerSecond ?? .infinity)
    let bound = max(Self.leastReceiverMaximum, receiverMaximum)
    bitsPerSecond = min(maximum, bound, max(minimum, Int(allowed)))
  }

  /// Retransmissions are paid by the encoder, down to half.
  private var media: Int {
    let half = bitsPerSecond / 2
    return max(min(minimum, bitsPerSecond), half, bitsPerSecond - Int(repeatedBitsPerSecond))
  }

  private mutating func countRepeated(_ byteCount: Int, _ nowNs: UInt64) {
    defer { reportedNs = nowNs }
    guard let reportedNs, nowNs > reportedNs else { return }
    let seconds = Double(nowNs - reportedNs) / 1e9
    let share = min(1, 2 * seconds)
    let rate = Double(byteCount * 8) / seconds
    repeatedBitsPerSecond += share * (rate - repeatedBitsPerSecond)
    if repeatedBitsPerSecond < 1000 { repeatedBitsPerSecond = 0 }
  }
}
