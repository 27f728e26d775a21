/// A path that suddenly carries much less than is sent. Its queue is to drain before more is sent,
/// because whatever enters a full queue is lost or late.
struct Overload: Hashable, Sendable {
  /// From when to when no pictures are taken.
  let beganNs: UInt64
  private(set) var untilNs: UInt64
  /// What was sent before, in bits a second.
  private let offered: Double
  /// What the path carries, by the newest report.
  private(set) var carried: Double
  private var sentBytes = 0
  private var lostBytes = 0

  private static let longestNs = 1e9
  /// Of the bitrate, for what is lost.
  private static let mostRepeatNs = 200e6

  init(offered: Double, carried: Double, nowNs: UInt64) {
    (beganNs, untilNs) = (nowNs, nowNs &+ UInt64(Self.longestNs))
    (self.offered, self.carried) = (offered, carried)
  }

  /// Takes what a report says of packets that were sent before.
  mutating func update(_ arrivals: [PacketArrival], carried: Double?, queueNs: Double) {
    if let carried { self.carried = min(self.carried, carried) }
    guard let newest = arrivals.last else { return }
    for arrival in arrivals {
      sentBytes += arrival.byteCount
      lostBytes += arrival.arrivedNs == nil ? arrival.byteCount : 0
    }
    // What was sent after the newest packet waits behind it, unless it was lost.
    let unreportedNs = beganNs > newest.sentNs ? Double(beganNs - newest.sentNs) : 0
    let entered = offered * (1 - Double(lostBytes) / Double(max(1, sentBytes)))
    let waitNs = queueNs + unreportedNs * (entered / max(1, self.carried) - 1)
    untilNs = beganNs &+ UInt64(min(Self.longestNs, max(0, waitNs)))
  }

  /// Whether it would take too long to send again what is lost.
  var losesTooMuch: Bool { Double(lostBytes * 8) * 1e9 > Self.mostRepeatNs * carried }
}
