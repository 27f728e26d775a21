import FrameBus

/// Something that frames come from: a screen, a file, a test pattern.
///
/// The source makes its own publisher, because only it knows the format, how many loans it needs
/// at once, and what must happen to a pool before it is sealed. It is confined to the thread
/// that runs it; a source with threads of its own hands their frames over to that thread.
public protocol FrameSource {
  associatedtype Failure: Error

  /// Publishes frames until the source ends or `session.isOver`, and finishes its publisher.
  ///
  /// Blocks the calling thread. While nobody subscribes, a live source does no work; a source
  /// that must lose nothing waits for its first subscriber.
  /// - Throws: what went wrong; the publisher is then finished as failed.
  mutating func run(in session: CaptureSession) throws(Failure)
}
