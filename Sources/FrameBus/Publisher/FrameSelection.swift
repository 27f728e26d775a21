/// Selects the frames that subscribers need, for a source whose frames have times of their own,
/// such as a film: a lower rate of demand leaves frames out.
///
/// A pure calculation over the times that the caller passes in; it never reads a clock.
package struct FrameSelection: Sendable {
  /// When the next frame is needed.
  private var dueNs: Int64?
  /// No subscriber waits longer for a frame, in a state that it did not see.
  private static let longestIntervalNs = 10e9

  package init() {}

  /// - Parameters:
  ///   - ptsNs: the frame's time. After a jump of the times the frame is needed.
  ///   - demand: nil, without subscribers, selects all frames.
  package mutating func needs(_ ptsNs: Int64, _ demand: Demand?) -> Bool {
    guard let rate = demand?.rate, rate.numerator > 0, rate.denominator > 0 else {
      dueNs = nil
      return true
    }
    let exactNs = 1e9 * Double(rate.denominator) / Double(rate.numerator)
    let intervalNs = Int64(min(exactNs, Self.longestIntervalNs))
    // Times may be anything: they come from files.
    let earlyNs = dueNs.map { $0 &- ptsNs } ?? 0
    // A frame that is nearer to its time than the next one would be, which may jitter.
    if earlyNs > intervalNs / 2, earlyNs <= intervalNs * 2 { return false }
    let isOnTime = earlyNs.magnitude <= UInt64(intervalNs)
    let next = (isOnTime ? dueNs ?? ptsNs : ptsNs).addingReportingOverflow(intervalNs)
    dueNs = next.overflow ? .max : next.partialValue
    return true
  }
}
