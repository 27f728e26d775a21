import Platform

/// Avoids a stale first frame for a subscriber of a live stream.
///
/// The newest frame may be old, because a screen without subscribers is not captured. So a frame
/// captured before the subscriber attached is deferred: a screen publishes a frame for each new
/// subscriber, and other sources publish soon. If no frame comes before `end`, as from the
/// publisher of a still, the old frame is used.
package struct FreshStart: Sendable {
  private static let timeout = Duration.seconds(2)

  private let askedNs: UInt64
  /// When a deferred frame is used.
  package let end = Deadline.after(timeout)

  /// Call once the subscriber is attached.
  /// - Parameter askedNs: the time before the subscriber looked for the stream.
  package init(askedNs: UInt64) { self.askedNs = askedNs }

  /// Whether to defer the frame. A frame without a capture time counts as new.
  package func holdsBack(_ frame: borrowing FrameLease) -> Bool {
    let capturedAtNs = frame.metadata.capturedAtNs
    return capturedAtNs > 0 && capturedAtNs < askedNs && !end.isPast
  }
}
