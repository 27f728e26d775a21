/// A change of a stream, for its publisher's process (`PublisherOptions.streamChanged`).
public enum StreamChange: Sendable {
  /// Subscribers can attach.
  case up(FrameFormat)
  /// The frames that follow have another format.
  case format(FrameFormat)
  /// No frames follow until `resumed`; reported again for another reason.
  case paused(PauseReason)
  /// Frames follow again.
  case resumed
  /// The publisher has ended; a successor may start.
  case down
}
