/// Maps the time stamps of a stream, across its publishers, to those of one recording: the first
/// frame is at 0, and time stamps strictly increase.
///
/// During one publisher's life the differences are exactly those of its own time stamps. A
/// restarted publisher may count from any value, so its first frame is placed by its time of
/// capture; so is a frame whose time stamp cannot belong to the clock of the previous frames.
package struct Timeline {
  /// Containers count in milliseconds; two frames closer together would share a time stamp.
  static let minimumStepNs: Int64 = 1_000_000
  /// Sound further from its picture than this has time stamps of another clock.
  private static let otherClockNs: UInt64 = 10_000_000_000
  /// The longest plausible pause between two pictures that were read, not captured.
  private static let longestPauseNs: Int64 = 3_600_000_000_000

  private struct Placed {
    var ptsNs: Int64
    var capturedAtNs: UInt64
    var generation: UInt64
    /// Added to the publisher's time stamps.
    var offsetNs: Int64
  }

  /// The newest frame that came from the stream.
  private var newest: Placed?
  /// The newest time stamp assigned, including those of repeated frames.
  package private(set) var lastNs: Int64 = -1
  /// The publisher of the newest picture.
  package var generation: UInt64? { newest?.generation }

  package init() {}

  /// Assigns a time stamp to a new frame.
  package mutating func place(
    ptsNs: Int64, capturedAtNs: UInt64, generation: UInt64
  ) -> UInt64 {
    var offsetNs = newest?.offsetNs ?? (0 &- ptsNs)
    if let newest,
      newest.generation != generation
        || jumps(from: newest, to: ptsNs &+ offsetNs, capturedAtNs: capturedAtNs)
    {
      let elapsedNs = Int64(clamping: capturedAtNs) &- Int64(clamping: newest.capturedAtNs)
      offsetNs = newest.ptsNs &+ max(elapsedNs, Self.minimumStepNs) &- ptsNs
    }
    let wantedNs = ptsNs &+ offsetNs
    let placedNs = lastNs < 0 ? wantedNs : max(wantedNs, later(by: Self.minimumStepNs))
    newest = Placed(
      ptsNs: placedNs, capturedAtNs: capturedAtNs, generation: generation, offsetNs: offsetNs)
    lastNs = placedNs
    return UInt64(clamping: placedNs)
  }

  /// Whether a time stamp is far from the one that the time of capture implies or, if that is not
  /// known, further ahead than the longest pause.
  private func jumps(from newest: Placed, to wantedNs: Int64, capturedAtNs: UInt64) -> Bool {
    let (stepNs, isOverflown) = wantedNs.subtractingReportingOverflow(newest.ptsNs)
    if isOverflown { return true }
    guard capturedAtNs > 0, newest.capturedAtNs > 0 else { return stepNs > Self.longestPauseNs }
    let elapsedNs = Int64(clamping: capturedAtNs) &- Int64(clamping: newest.capturedAtNs)
    let (differenceNs, isFar) = stepNs.subtractingReportingOverflow(elapsedNs)
    return isFar || differenceNs.magnitude > Self.otherClockNs
  }

  private func later(by stepNs: Int64) -> Int64 {
    let (sumNs, isOverflown) = lastNs.addingReportingOverflow(stepNs)
    return isOverflown ? .max : sumNs
  }

  /// The offset from a sound's time stamp to the timeline: that of the newest picture, if both use
  /// one clock; otherwise the offset that aligns the two by their times of capture.
  /// - Returns: nil before the first picture.
  func soundOffsetNs(ptsNs: Int64, capturedAtNs: UInt64) -> Int64? {
    guard let newest else { return nil }
    guard capturedAtNs > 0, newest.capturedAtNs > 0 else { return newest.offsetNs }
    let elapsedNs = Int64(clamping: capturedAtNs) &- Int64(clamping: newest.capturedAtNs)
    let meetingNs = newest.ptsNs &+ elapsedNs &- ptsNs
    let differenceNs = meetingNs.subtractingReportingOverflow(newest.offsetNs)
    let isOneClock =
      !differenceNs.overflow && differenceNs.partialValue.magnitude < Self.otherClockNs
    return isOneClock ? newest.offsetNs : meetingNs
  }

  /// Assigns a time stamp to the newest frame, repeated this long after the previous one.
  mutating func placeRepeated(afterNs: Int64) -> UInt64 {
    lastNs = later(by: max(afterNs, Self.minimumStepNs))
    return UInt64(clamping: lastNs)
  }
}
