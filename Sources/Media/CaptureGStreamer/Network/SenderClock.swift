#if Media
  /// Places the time stamps of another machine on this machine's monotonic clock.
  ///
  /// A sender's time stamps have the right distances, but another zero, and another speed by some
  /// millionths. The offset is that of the frame with the shortest way here. It is found in the
  /// first second, and moves slowly from then on, so that distances stay what the sender made them.
  /// Pictures and sound share it. Confined to one thread.
  final class SenderClock {
    private static let settlingNs: UInt64 = 1_000_000_000
    /// How often the offset moves, and by how much at most: clocks differ by less than half a
    /// millisecond a second, and a first second may have been a slow one.
    private static let windowNs: UInt64 = 2_000_000_000
    private static let growthNs: Int64 = 1_000_000
    private static let shrinkageNs: Int64 = 10_000_000
    /// A sender that has started again counts from elsewhere.
    private static let jumpNs: UInt64 = 3_000_000_000
    /// A frame that is older was not sent by a clock that agrees with this machine's.
    private static let oldestNs: Int64 = 5_000_000_000

    private var offsetNs: Int64?
    private var settledAtNs: UInt64 = 0
    private var windowEndNs: UInt64 = 0
    private var leastNs = Int64.max

    /// - Parameter ptsNs: at most half of `Int64.max`.
    /// - Returns: the time on this machine's clock.
    func place(_ ptsNs: Int64, arrivedAtNs: UInt64) -> Int64 {
      let observedNs = Int64(clamping: arrivedAtNs) &- ptsNs
      guard let current = offsetNs, (observedNs &- current).magnitude < Self.jumpNs else {
        offsetNs = observedNs
        settledAtNs = arrivedAtNs &+ Self.settlingNs
        windowEndNs = settledAtNs &+ Self.windowNs
        leastNs = .max
        return ptsNs &+ observedNs
      }
      var offset = current
      if arrivedAtNs < settledAtNs {
        offset = min(current, observedNs)
      } else {
        leastNs = min(leastNs, observedNs)
        if arrivedAtNs >= windowEndNs {
          offset &+= min(max(leastNs &- current, -Self.shrinkageNs), Self.growthNs)
          windowEndNs = arrivedAtNs &+ Self.windowNs
          leastNs = .max
        }
      }
      offsetNs = offset
      return ptsNs &+ offset
    }

    /// When a frame was captured: by the sender's own clock, as far as its reports say so and that
    /// clock agrees with this machine's; else its place, or its arrival if that was earlier.
    /// - Parameter reportedOffsetNs: from a time stamp to this machine's clock, by the sender's
    ///   report.
    func captured(
      _ ptsNs: Int64, placedAtNs: Int64, arrivedAtNs: UInt64, reportedOffsetNs: Int64?
    ) -> Int64 {
      let arrivedNs = Int64(clamping: arrivedAtNs)
      let placedNs = min(placedAtNs, arrivedNs)
      guard let reportedOffsetNs else { return placedNs }
      let (sentNs, isOverflown) = ptsNs.addingReportingOverflow(reportedOffsetNs)
      let isPlausible = !isOverflown && (0...Self.oldestNs).contains(arrivedNs &- sentNs)
      return isPlausible ? sentNs : placedNs
    }
  }
#endif
