import FrameBus

/// The newest picture, sent again while the screen does not change: nothing is published then, and
/// a player must not wait a whole second.
package struct StillPicture {
  /// The time without a new picture after which it is sent again.
  private static let afterNs: UInt64 = 700_000_000
  /// The first repetition is stamped this much earlier, because a frame captured before now may
  /// still be in transit and must follow it.
  private static let marginNs: Int64 = 200_000_000

  package private(set) var frame: HeldFrame?
  private var sentNs: UInt64 = 0
  private var isAgain = false

  package init() {}

  /// Records that a new picture was sent.
  /// - Parameter frame: nil if it must not be sent again.
  package mutating func sent(_ frame: HeldFrame?, nowNs: UInt64) {
    self.frame = frame
    sentNs = nowNs
    isAgain = false
  }

  /// Releases the picture.
  package mutating func release() { frame = nil }

  /// When to send it again; nil without a picture.
  package var dueNs: UInt64? { frame == nil ? nil : sentNs &+ Self.afterNs }

  /// Adds the picture to the timeline once more.
  /// - Returns: its time stamp.
  package mutating func sentAgain(on timeline: inout Timeline, nowNs: UInt64) -> UInt64 {
    let elapsedNs = Int64(clamping: nowNs &- sentNs)
    let ptsNs = timeline.placeRepeated(afterNs: elapsedNs &- (isAgain ? 0 : Self.marginNs))
    sentNs = nowNs
    isAgain = true
    return ptsNs
  }
}
