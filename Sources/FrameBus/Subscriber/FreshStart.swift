import Platform

/// Avoids a stale first frame for a subscriber of a live stream.
///
/// The newest frame may be old, because a screen without subscribers is not captured. So a frame
/// captured before the subscriber attached is deferred: a screen publishes a frame for each new
/// subscriber, and other sources publish soon. If no frame comes before `end`, as from the
/// publisher of a still, the old frame is used. The same holds for a picture that was reduced for
/// other subscribers, where all of it is needed: it would set the size of a file.
package struct FreshStart: Sendable {
  private static let timeout = Duration.seconds(2)

  private let askedNs: UInt64
  private let needsWhole: Bool
  /// When a deferred frame is used.
  package let end = Deadline.after(timeout)

  /// Call once the subscriber is attached.
  /// - Parameters:
  ///   - askedNs: the time before the subscriber looked for the stream.
  ///   - demand: the subscriber's.
  package init(askedNs: UInt64, _ demand: Demand = .everything) {
    self.askedNs = askedNs
    needsWhole = demand.box == nil
  }

  /// Whether to defer the frame. A frame without a capture time counts as new.
  package func holdsBack(_ frame: borrowing FrameLease) -> Bool {
    let capturedAtNs = frame.metadata.capturedAtNs
    let isOld = capturedAtNs > 0 && capturedAtNs < askedNs
    let isTooSmall = needsWhole && frame.metadata.flags.contains(.reduced)
    return (isOld || isTooSmall) && !end.isPast
  }
}
