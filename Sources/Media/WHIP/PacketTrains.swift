/// What a path carries, seen in the packets of single pictures: they leave faster than the bitrate,
/// and arrive as fast as the path carries. So a link that was freed is noticed without probes.
struct PacketTrains: Hashable, Sendable {
  /// Packets that left in one go, and arrived.
  private struct Train: Hashable, Sendable {
    let endNs: UInt64
    let bits: Double
    let packetCount: Int
    /// How long it took to arrive.
    let seconds: Double
  }

  /// Between two packets of a train.
  private static let longestGapNs: UInt64 = 12_000_000
  /// Older ones say little about the path.
  private static let windowNs: UInt64 = 700_000_000
  /// A train that takes this many times as long to arrive as to leave waited on the way.
  private static let delayedFactor = 1.1
  private static let fewest = (trains: 5, packets: 12)

  private var trains: [Train] = []
  private var first: PacketArrival?
  private var last: PacketArrival?
  private var bits = 0.0
  private var packetCount = 0

  /// In the order of sending.
  mutating func add(_ arrival: PacketArrival) {
    guard arrival.arrivedNs != nil else { return begin(nil) }
    guard let last, arrival.sentNs >= last.sentNs,
      arrival.sentNs - last.sentNs <= Self.longestGapNs
    else { return begin(arrival) }
    self.last = arrival
    // The first packet only marks the beginning.
    bits += Double(arrival.byteCount * 8)
    packetCount += 1
  }

  /// Completes the train, and begins the next with a packet.
  private mutating func begin(_ next: PacketArrival?) {
    if let first, let last, packetCount > 0, let begin = first.arrivedNs, let end = last.arrivedNs,
      end >= begin
    {
      // The pace waits after each packet, so the time of sending is that of all but the last.
      let sentBits = bits - Double((last.byteCount - first.byteCount) * 8)
      let gapNs = Double(last.sentNs - first.sentNs)
      let sentNs = gapNs * bits / max(sentBits, 1)
      // None arrives faster than it was sent; a network that passes packets on in groups seems to.
      let isDelayed = Double(end - begin) > Self.delayedFactor * gapNs
      let seconds = (isDelayed ? max(Double(end - begin), sentNs) : sentNs) / 1e9
      trains.append(
        Train(endNs: last.sentNs, bits: bits, packetCount: packetCount, seconds: seconds))
    }
    (first, last, bits, packetCount) = (next, next, 0, 0)
    guard let newestNs = trains.last?.endNs else { return }
    let goneCount = trains.firstIndex { $0.endNs &+ Self.windowNs >= newestNs } ?? 0
    trains.removeFirst(goneCount)
  }

  /// Forgets what was seen before a change of the bitrate.
  mutating func reset() { self = PacketTrains() }

  /// Bits a second that arrived, while as much was sent; nil until there is enough to tell.
  var carried: Double? {
    guard trains.count >= Self.fewest.trains,
      trains.reduce(0, { $0 + $1.packetCount }) >= Self.fewest.packets
    else { return nil }
    let seconds = trains.reduce(0) { $0 + $1.seconds }
    return seconds > 0 ? trains.reduce(0) { $0 + $1.bits } / seconds : nil
  }
}
