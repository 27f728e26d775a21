/// What becomes of a stream, as its publisher's process sees it (`PublisherOptions.streamChanged`).
public enum StreamChange: Sendable {
  /// Subscribers can come.
  case up(FrameFormat)
  /// The frames that follow have another format.
  case format(FrameFormat)
  /// The publisher is gone, and a successor may come.
  case down
}
