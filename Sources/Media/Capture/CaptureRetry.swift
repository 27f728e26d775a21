/// A capture that is started again and again until it succeeds, such as one of a sound server that
/// is not there. Its failures are already logged, so it logs nothing before its first sound.
package enum CaptureRetry {
  /// The environment variable that says so.
  package static let variable = "FRAMEBUS_CAPTURE_RETRY"
}
