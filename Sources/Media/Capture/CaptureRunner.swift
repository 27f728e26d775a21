import FrameBus
import Platform

/// Runs a source to its end and reports its figures periodically.
public struct CaptureRunner: Sendable {
  /// The session of the run.
  public let session: CaptureSession

  /// Runs sources in a session.
  public init(_ session: CaptureSession) { self.session = session }

  /// Blocks until the source ends, a limit is reached or the session's stop signal is raised.
  /// - Parameter onProgress: called every `interval`, on another thread.
  /// - Returns: the final figures.
  public func run<Source: FrameSource>(
    _ source: inout Source, every interval: Duration = .seconds(1),
    onProgress: (@Sendable (CaptureFigures) -> Void)? = nil
  ) throws(Source.Failure) -> CaptureFigures {
    let session = session
    let reporter = onProgress.map { report in
      Task.detached {
        while (try? await Task.sleep(for: interval)) != nil { report(session.figures) }
      }
    }
    defer { reporter?.cancel() }
    try source.run(in: session)
    return session.figures
  }
}
