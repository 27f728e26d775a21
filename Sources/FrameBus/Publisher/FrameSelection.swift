/// Selects the frames that subscribers need, for a source whose frames have times of their own,
/// such as a film: a lower rate of demand leaves frames out, but never the last one before a pause.
///
/// A pure calculation over the times that the caller passes in; it never reads a clock.
package struct FrameSelection: Sendable {
  /// When the next frame is needed.
  private var dueNs: Int64?
  /// A lower rate than one frame in this time counts as that rate.
  private static let longestIntervalNs = 10e9

  package init() {}

  /// - Parameters:
  ///   - ptsNs: the frame's time. After a jump of the times the frame is needed.
  ///   - nextNs: no other frame comes before this time; nil if none comes at all. A live source
  ///     passes the present, and asks again later about a frame that is not needed.
  ///   - demand: nil, without subscribers, selects all frames.
  package mutating func needs(
    _ ptsNs: Int64, before nextNs: Int64?, _ demand: Demand?
  ) -> Bool {
    guard let intervalNs = Self.intervalNs(of: demand) else {
      dueNs = nil
      return true
    }
    // Times may be anything: they come from files.
    let earlyNs = dueNs.map { $0 &- ptsNs } ?? 0
    let isOnTime = (-intervalNs...intervalNs * 2).contains(earlyNs)
    if isOnTime, earlyNs > intervalNs / 2, let nextNs, nextNs >= ptsNs {
      // The next one is nearer to the time than this one, if it is not too late.
      let distance = nextNs.subtractingReportingOverflow(ptsNs)
      if !distance.overflow, distance.partialValue <= earlyNs + intervalNs / 2 { return false }
    }
    let next = (isOnTime ? dueNs ?? ptsNs : ptsNs).addingReportingOverflow(intervalNs)
    dueNs = next.overflow ? .max : next.partialValue
    return true
  }

  /// How long after its time a frame that was not needed becomes needed, if no other one comes.
  package func waitNs(of ptsNs: Int64, _ demand: Demand?) -> UInt64 {
    guard let dueNs, let intervalNs = Self.intervalNs(of: demand) else { return 0 }
    let earlyNs = min(dueNs &- ptsNs, intervalNs * 2)
    return UInt64(max(0, earlyNs + intervalNs / 2 + 1))
  }

  /// Nil if all frames are needed.
  private static func intervalNs(of demand: Demand?) -> Int64? {
    guard let rate = demand?.rate, rate.numerator > 0, rate.denominator > 0 else { return nil }
    let exactNs = 1e9 * Double(rate.denominator) / Double(rate.numerator)
    return Int64(min(exactNs, longestIntervalNs))
  }
}
