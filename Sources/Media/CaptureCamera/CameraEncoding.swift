import CVideo4Linux
import FrameBus

/// A pixel format or codec of cameras: a row of the table of those that can be captured.
struct CameraEncoding: Hashable {
  /// The kernel's code, and the name for `--format`.
  let code: FourCC
  let name: String
  /// The bus's code; of a codec, what it decodes.
  let fourcc: FourCC
  let layout: Layout

  enum Layout: Hashable {
    /// One plane of pixels with that many bytes each.
    case packed(Int)
    /// Luma, then chroma in one plane or in two; chroma is as high as the picture or half.
    case semiPlanar(isHalfHeight: Bool)
    case planar(isHalfHeight: Bool)
    case encoded
  }

  var isEncoded: Bool { layout == .encoded }

  /// In the order of preference: what encoders take without a conversion first.
  static let all: [CameraEncoding] = [
    row("NV12", "nv12", .nv12, .semiPlanar(isHalfHeight: true)),
    row("YU12", "i420", .yuv420, .planar(isHalfHeight: true)),
    row("YUYV", "yuyv", .yuyv, .packed(2)),
    row("UYVY", "uyvy", .uyvy, .packed(2)),
    row("422P", "i422", .yuv422, .planar(isHalfHeight: false)),
    row("XR24", "bgrx", .xrgb8888, .packed(4)),
    row("AR24", "bgra", .argb8888, .packed(4)),
    row("XB24", "rgbx", .xbgr8888, .packed(4)),
    row("BGR3", "bgr", .rgb888, .packed(3)),
    row("RGB3", "rgb", .bgr888, .packed(3)),
    row("GREY", "grey", .r8, .packed(1)),
    row("MJPG", "mjpeg", .mjpeg, .encoded),
    row("JPEG", "jpeg", .mjpeg, .encoded),
    row("H264", "h264", .h264, .encoded),
  ]

  private static func row(
    _ code: String, _ name: String, _ fourcc: FourCC, _ layout: Layout
  ) -> CameraEncoding {
    guard let code = FourCC(code) else { preconditionFailure("\(code) is not a code") }
    return CameraEncoding(code: code, name: name, fourcc: fourcc, layout: layout)
  }

  /// The row of a kernel's code; nil if it cannot be captured.
  init?(code: UInt32) {
    guard let row = Self.all.first(where: { $0.code.rawValue == code }) else { return nil }
    self = row
  }

  private init(code: FourCC, name: String, fourcc: FourCC, layout: Layout) {
    self.code = code
    self.name = name
    self.fourcc = fourcc
    self.layout = layout
  }

  /// Its place in the order of preference.
  var rank: Int { Self.all.firstIndex(of: self) ?? Self.all.count }
}

extension CameraEncoding {
  /// Larger pictures are a mistake of the driver.
  static let maximumByteCount = 1 << 28

  /// The frame format of what a driver said, checked: the planes lie inside its buffers.
  func format(of format: video_format, rate: FrameRate) throws(CameraFormatError) -> FrameFormat {
    let (width, height) = (Int(format.width), Int(format.height))
    guard (1...16384).contains(width), (1...16384).contains(height) else {
      throw .what("\(width)×\(height) pixels")
    }
    guard format.planeCount == 1 else {
      throw .what("pictures in \(format.planeCount) pieces of memory")
    }
    guard !format.isInterlaced else { throw .what("interlaced fields") }
    guard format.byteCount <= Self.maximumByteCount else {
      throw .what("\(format.byteCount) bytes a frame")
    }
    // 0 means that rows follow each other.
    let stride = format.stride == 0 ? leastStride(width: width) : Int(format.stride)
    guard (1...Self.maximumByteCount).contains(stride) else {
      throw .what("rows of \(stride) bytes")
    }
    let planes = planes(stride: stride, height: height)
    do {
      let result = try FrameFormat(
        kind: .video, fourcc: fourcc, width: width, height: height, planes: planes.list,
        byteCount: planes.byteCount, frameRate: rate, colorSpace: colorSpace(of: format))
      guard result.byteCount <= format.byteCount else {
        throw CameraFormatError.what("\(format.byteCount) bytes for \(result.byteCount)")
      }
      return result
    } catch let error as CameraFormatError { throw error } catch { throw .what("\(error)") }
  }

  private func leastStride(width: Int) -> Int {
    switch layout {
    case .packed(let bytes): width * bytes
    case .planar, .semiPlanar: width
    case .encoded: 0
    }
  }

  /// Planes as `linux/videodev2.h` lays them out: without gaps, chroma rows as long as luma rows or
  /// half as long.
  private func planes(stride: Int, height: Int) -> (list: [Plane], byteCount: Int) {
    let luma = stride * height
    switch layout {
    case .packed: return ([Plane(offset: 0, stride: stride)], luma)
    case .semiPlanar(let isHalf):
      let rows = isHalf ? (height + 1) / 2 : height
      return (
        [Plane(offset: 0, stride: stride), Plane(offset: luma, stride: stride)],
        luma + stride * rows
      )
    case .planar(let isHalf):
      let chroma = stride / 2 * (isHalf ? (height + 1) / 2 : height)
      return (
        [
          Plane(offset: 0, stride: stride), Plane(offset: luma, stride: stride / 2),
          Plane(offset: luma + chroma, stride: stride / 2),
        ], luma + 2 * chroma
      )
    case .encoded: return ([], 0)
    }
  }

  private func colorSpace(of format: video_format) -> ColorSpace {
    var isRGB = false
    if case .packed(let bytes) = layout { isRGB = bytes > 2 }
    var format = format
    // SAFETY: the call reads the structure only while it lasts.
    let color = unsafe video_color(&format, isRGB)
    return ColorSpace(
      primaries: .init(rawValue: color.primaries), transfer: .init(rawValue: color.transfer),
      matrix: .init(rawValue: color.matrix), range: .init(rawValue: color.range) ?? .unspecified)
  }
}

/// What a driver said of its pictures, and cannot be.
enum CameraFormatError: Error, Hashable { case what(String) }
