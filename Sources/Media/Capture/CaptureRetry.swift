/// A capture that is started again and again until it succeeds, such as one of a sound server that
/// is not there. Its failures are already logged, so it logs nothing before its first sound.
package enum CaptureRetry {
  /// The environment variable that says so.
  package static let variable = "FRAMEBUS_CAPTURE_RETRY"

  /// The environment variable of a capture that a broadcast starts again, for a source that may not
  /// be back yet: its earlier run has worked.
  package static let restartVariable = "FRAMEBUS_CAPTURE_RESTART"
}
