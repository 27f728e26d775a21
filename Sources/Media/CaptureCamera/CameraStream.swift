import CVideo4Linux
import Capture
import FrameBus
import Platform

/// A camera that is set up to deliver pictures of one format: it has the device, as no other
/// program can until this value is destroyed.
struct CameraStream: ~Copyable {
  let device: CameraDevice
  let format: FrameFormat
  /// Bytes that the driver may write for a picture.
  let bufferBytes: Int

  /// Opens and sets up a camera.
  /// - Throws: ``CameraError/encoded(path:)`` if it has no such mode without an encoding.
  init(_ path: String, _ settings: CaptureSettings) throws(CameraError) {
    let device = try CameraDevice(path)
    let choice = try CameraChoice(settings, of: CameraMode.all(of: device), path: path)
    if choice.encoding.isEncoded { throw .encoded(path: path) }
    var format = video_format()
    format.encoding = choice.encoding.code.rawValue
    format.width = UInt32(choice.width)
    format.height = UInt32(choice.height)
    // SAFETY: the call uses the structure only while it lasts.
    try device.call("VIDIOC_S_FMT") { unsafe video_set_format($0, &format) }
    guard let encoding = CameraEncoding(code: format.encoding), !encoding.isEncoded else {
      throw .malformed(path: path, what: "another format than the one it lists")
    }
    let size = settings.region
    if let size, format.width != size.width || format.height != size.height {
      throw .noMode(
        path: path, asked: "--size \(size.width)x\(size.height)",
        known: ["\(format.width)x\(format.height)"])
    }
    let rate = Self.setRate(choice.rate, of: device)
    if let wanted = settings.frameRate, rate.numerator > 0,
      abs(rate.perSecond - wanted.perSecond) > 0.01
    {
      throw .noMode(path: path, asked: "--fps \(wanted.shortText)", known: [rate.shortText])
    }
    let checked: FrameFormat
    do throws(CameraFormatError) {
      checked = try encoding.format(of: format, rate: rate)
    } catch {
      switch error {
      case .what(let text): throw .malformed(path: path, what: text)
      }
    }
    try CameraControl.set(settings.controls ?? [], of: device)
    self.format = checked
    bufferBytes = Int(format.byteCount)
    self.device = device
  }

  /// Asks for a rate.
  /// - Returns: what the driver chose; variable if it does not say.
  private static func setRate(
    _ wanted: FrameRate?, of device: borrowing CameraDevice
  ) -> FrameRate {
    var (numerator, denominator): (UInt32, UInt32) = (0, 0)
    let number = device.descriptor.number
    var result: Int32 = -1
    if let wanted {
      (numerator, denominator) = (UInt32(wanted.denominator), UInt32(wanted.numerator))
      result = unsafe video_set_interval(number, &numerator, &denominator)
    }
    if result != 0 { result = unsafe video_current_interval(number, &numerator, &denominator) }
    return result == 0 ? FrameRate(interval: numerator, denominator) ?? .variable : .variable
  }
}
