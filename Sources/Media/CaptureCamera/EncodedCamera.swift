import CVideo4Linux
import Capture
import FrameBus
import Platform

/// A running camera whose pictures need a decoder. Used by one thread; it has the device until it
/// is destroyed.
public final class EncodedCamera {
  public enum Codec: Sendable { case jpeg, h264 }

  public let codec: Codec
  public let width: Int
  public let height: Int
  public let rate: FrameRate
  /// What to call the camera by from then on: one that comes back may have another number.
  public let name: String
  private let device: CameraDevice
  private let buffers: CameraBuffers
  private let times: CameraTimes

  /// Whether the mode that a capture takes needs a decoder.
  /// - Parameter name: as for ``CameraSource``.
  public static func isNeeded(
    for name: String?, _ settings: CaptureSettings
  ) throws(CameraError) -> Bool {
    let path = try CameraSearch.path(of: name)
    let device = try CameraDevice(path)
    return try CameraChoice(settings, of: CameraMode.all(of: device), path: path).encoding.isEncoded
  }

  /// Starts a camera.
  /// - Parameters:
  ///   - name: as for ``CameraSource``.
  ///   - times: those of its pictures, which go on when it was lost and is back.
  public init(
    _ name: String?, _ settings: CaptureSettings, _ times: CameraTimes
  ) throws(CameraError) {
    let path = try CameraSearch.path(of: name)
    let device = try CameraDevice(path)
    let choice = try CameraChoice(settings, of: CameraMode.all(of: device), path: path)
    guard choice.encoding.isEncoded else { throw .otherPictures(path: path) }
    let (encoding, format, rate) = try device.setUp(choice, settings)
    guard format.planeCount == 1 else {
      throw .malformed(path: path, what: "pictures in \(format.planeCount) pieces of memory")
    }
    (width, height) = (Int(format.width), Int(format.height))
    guard (1...16384).contains(width), (1...16384).contains(height) else {
      throw .malformed(path: path, what: "\(width)×\(height) pixels")
    }
    try CameraControl.set(settings.controls ?? [], of: device)
    codec = encoding.fourcc == .h264 ? .h264 : .jpeg
    self.rate = rate
    self.name = name ?? device.name
    self.times = times
    times.clock = CameraClock(after: times.clock)
    buffers = try CameraBuffers(encodedBy: device, bufferBytes: Int(format.byteCount))
    self.device = device
  }

  deinit { buffers.end() }

  /// Readable when there may be a picture.
  public var descriptorNumber: Int32 { device.descriptor.number }

  /// Takes the next picture, if there is one.
  /// - Parameter body: receives the picture and when it was taken; false if it was given up.
  /// - Returns: how many pictures were lost: missing ones, damaged ones, and that one.
  public func next(_ body: (RawSpan, _ ptsNs: Int64) -> Bool) throws(CameraError) -> UInt64 {
    guard let picture = try buffers.next() else { return 0 }
    var lostCount = times.clock.missingCount(before: picture.sequence)
    let ptsNs = times.clock.times(of: picture.time, nowNs: monotonicNowNs()).ptsNs
    let isTaken = picture.isWhole ? try buffers.read(picture) { body($0, ptsNs) } ?? false : false
    if !isTaken { lostCount += 1 }
    try buffers.putBack(picture)
    return lostCount
  }
}

/// The times of a camera's pictures. Used by one thread.
public final class CameraTimes {
  var clock = CameraClock()

  public init() {}
}
