import Platform

/// How a subscriber begins that wants what a live stream shows now.
///
/// The newest frame there is may be old: nobody captures a screen that nobody reads. So one from
/// before the subscriber came is put by for a moment: a screen gives each newcomer a frame, and
/// others publish soon. Where none comes, as from who published a still, the old frame is the
/// picture.
package struct FreshStart: Sendable {
  private static let patience = Duration.seconds(2)

  private let askedNs: UInt64
  /// When what was put by is to be taken.
  package let end = Deadline.after(patience)

  /// Begins, now that the subscriber is attached.
  /// - Parameter askedNs: the moment before it looked for the stream.
  package init(askedNs: UInt64) { self.askedNs = askedNs }

  /// Whether to put the frame by. One of which nobody knows when it was captured counts as new.
  package func putsBy(_ frame: borrowing FrameLease) -> Bool {
    let capturedAtNs = frame.metadata.capturedAtNs
    return capturedAtNs > 0 && capturedAtNs < askedNs && !end.isPast
  }
}
