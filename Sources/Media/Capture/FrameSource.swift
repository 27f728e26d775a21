import FrameBus

/// A source of frames: a screen, a file or a test pattern.
///
/// The source creates its own publisher, because only the source knows the format, how many
/// loans it needs at once, and what must happen to a pool before it is sealed. It is confined to
/// the thread that runs it; a source with threads of its own passes their frames to that thread.
public protocol FrameSource {
  /// Why the source cannot go on.
  associatedtype Failure: Error

  /// Publishes frames until the source ends or `session.isOver`, and finishes its publisher.
  ///
  /// Blocks the calling thread. A live source does no work while there are no subscribers; a
  /// source that must lose nothing waits for its first subscriber.
  /// - Throws: the error; the publisher is then finished as failed.
  mutating func run(in session: CaptureSession) throws(Failure)
}
