import FrameBus

/// The newest picture of a screen, to be sent again while the screen stands still: then nothing is
/// published, and a player shall not wait a whole second.
package struct StillPicture {
  /// After so long without a new picture.
  private static let afterNs: UInt64 = 700_000_000
  /// At first stamped so much earlier, because a new frame captured before now may still be on its
  /// way and must come after it.
  private static let marginNs: Int64 = 200_000_000

  package private(set) var frame: HeldFrame?
  private var sentNs: UInt64 = 0
  private var isAgain = false

  package init() {}

  /// A new picture was sent.
  /// - Parameter frame: nil where it is not to be sent again.
  package mutating func sent(_ frame: HeldFrame?, nowNs: UInt64) {
    self.frame = frame
    sentNs = nowNs
    isAgain = false
  }

  /// Lets the picture go.
  package mutating func release() { frame = nil }

  /// When it is to be sent again; nil without one.
  package var dueNs: UInt64? { frame == nil ? nil : sentNs &+ Self.afterNs }

  /// Places it once more.
  /// - Returns: its time stamp.
  package mutating func sentAgain(on timeline: inout Timeline, nowNs: UInt64) -> UInt64 {
    let elapsedNs = Int64(clamping: nowNs &- sentNs)
    let ptsNs = timeline.placeRepeated(afterNs: elapsedNs &- (isAgain ? 0 : Self.marginNs))
    sentNs = nowNs
    isAgain = true
    return ptsNs
  }
}
