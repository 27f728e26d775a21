import Capture
import FrameBus

/// The capture of a camera that only delivers encoded pictures in the wanted mode.
public enum CameraDecoding {
  /// Sets the camera's controls and describes the pipeline that decodes its pictures, for
  /// ``SourceSpecification/pipeline(_:)``.
  /// - Parameter name: as for ``CameraSource``.
  /// - Returns: nil if the pictures need no decoder.
  public static func pipeline(
    for name: String?, _ settings: CaptureSettings
  ) throws(CameraError) -> String? {
    let path = try CameraSearch.path(of: name)
    let device = try CameraDevice(path)
    let choice = try CameraChoice(settings, of: CameraMode.all(of: device), path: path)
    guard choice.encoding.isEncoded else { return nil }
    try CameraControl.set(settings.controls ?? [], of: device)
    let isJPEG = choice.encoding.fourcc == .mjpeg
    var caps = isJPEG ? "image/jpeg" : "video/x-h264"
    caps += ",width=\(choice.width),height=\(choice.height)"
    if let rate = choice.rate { caps += ",framerate=\(rate.numerator)/\(rate.denominator)" }
    return "v4l2src device=\(quoted(path)) ! \(caps) ! "
      + (isJPEG ? "jpegdec" : "h264parse ! avdec_h264")
  }

  /// A text in the syntax of `gst-launch-1.0`.
  private static func quoted(_ text: String) -> String {
    let escaped = text.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }
    return "\"\(escaped.joined())\""
  }
}
