/// Turns the time stamps of a stream, over all its publishers, into those of one recording:
/// the first frame is at 0, and they strictly rise.
///
/// Within one publisher's life the differences are exactly those of its own time stamps. A
/// restarted publisher may count from anywhere, so its first frame is placed by the moment of its
/// capture; so is one whose time stamp cannot belong to the clock of those before.
package struct Timeline {
  /// Containers count in milliseconds; two frames closer than that would share a time stamp.
  static let minimumStepNs: Int64 = 1_000_000
  /// No sound is captured so long before or after its picture: its time stamps are another clock's.
  private static let otherClockNs: UInt64 = 10_000_000_000
  /// No pause between two pictures that were not captured, but read, is longer.
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
  /// The newest time stamp given out, also to a repeated frame.
  package private(set) var lastNs: Int64 = -1
  /// The publisher of the newest picture.
  package var generation: UInt64? { newest?.generation }

  package init() {}

  /// The place of a new frame.
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

  /// Whether a place is far from where the moment of its capture puts the frame, or, where that is
  /// not known, further ahead than any pause.
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

  /// What turns a sound's time stamp into a place, beside the newest picture: what the pictures'
  /// own need, if both have one clock. Else the two meet where they were captured at one moment.
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

  /// The place of the newest frame, sent again so long after the last one.
  mutating func placeRepeated(afterNs: Int64) -> UInt64 {
    lastNs = later(by: max(afterNs, Self.minimumStepNs))
    return UInt64(clamping: lastNs)
  }
}
