/// What a capture does about the X server's screen saver, which starts after ten minutes without
/// a key or a movement of the mouse, unless the user has chosen another time.
public enum SaverPolicy: String, Hashable, Sendable, CaseIterable {
  /// Publishes nothing while it is on, because nobody sees the screen.
  case pause
  /// Publishes whatever the server shows.
  case capture
  /// Keeps it off while there are subscribers, as a video player does, and in a broadcast until its
  /// end. If it is on nevertheless, because somebody started it, the capture pauses.
  case inhibit
}
