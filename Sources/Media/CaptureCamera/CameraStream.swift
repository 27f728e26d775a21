import CVideo4Linux
import Capture
import FrameBus
import Platform

/// A camera that is set up to deliver pictures without an encoding: it has the device, as no other
/// program can until this value is destroyed.
package struct CameraStream: ~Copyable {
  let device: CameraDevice
  package let format: FrameFormat
  /// Bytes that the driver may write for a picture.
  package let bufferBytes: Int

  /// Readable when there may be a picture.
  package var descriptorNumber: Int32 { device.descriptor.number }

  /// Opens and sets up a camera.
  /// - Throws: ``CameraError/otherPictures(path:)`` if it has no such mode without an encoding.
  package init(_ path: String, _ settings: CaptureSettings) throws(CameraError) {
    let device = try CameraDevice(path)
    let choice = try CameraChoice(settings, of: CameraMode.all(of: device), path: path)
    if choice.encoding.isEncoded { throw .otherPictures(path: path) }
    let (encoding, format, rate) = try device.setUp(choice, settings)
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
}

extension CameraDevice {
  /// Sets a mode.
  /// - Returns: what the driver chose. It is what was asked for, but nothing else of it is checked.
  borrowing func setUp(
    _ choice: CameraChoice, _ settings: CaptureSettings
  ) throws(CameraError) -> (CameraEncoding, video_format, FrameRate) {
    var format = video_format()
    format.encoding = choice.encoding.code.rawValue
    format.width = UInt32(choice.width)
    format.height = UInt32(choice.height)
    // SAFETY: the call uses the structure only while it lasts.
    try call("VIDIOC_S_FMT") { unsafe video_set_format($0, &format) }
    guard let encoding = CameraEncoding(code: format.encoding),
      encoding.isEncoded == choice.encoding.isEncoded
    else {
      throw .malformed(path: path, what: "another format than the one it lists")
    }
    let size = settings.region
    if let size, format.width != size.width || format.height != size.height {
      throw .noMode(
        path: path, asked: "--size \(size.width)x\(size.height)",
        known: ["\(format.width)x\(format.height)"])
    }
    let rate = setRate(choice.rate)
    if let wanted = settings.frameRate, rate.numerator > 0,
      abs(rate.perSecond - wanted.perSecond) > 0.01
    {
      throw .noMode(path: path, asked: "--fps \(wanted.shortText)", known: [rate.shortText])
    }
    return (encoding, format, rate)
  }

  /// Asks for a rate.
  /// - Returns: what the driver chose; variable if it does not say.
  private borrowing func setRate(_ wanted: FrameRate?) -> FrameRate {
    var (numerator, denominator): (UInt32, UInt32) = (0, 0)
    var result: Int32 = -1
    if let wanted {
      (numerator, denominator) = (UInt32(wanted.denominator), UInt32(wanted.numerator))
      result = unsafe video_set_interval(port, &numerator, &denominator)
    }
    if result != 0 { result = unsafe video_current_interval(port, &numerator, &denominator) }
    return result == 0 ? FrameRate(interval: numerator, denominator) ?? .variable : .variable
  }
}
