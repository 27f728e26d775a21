/// A pixel format by its DRM four-character code (`drm_fourcc.h` of the Linux kernel). The codes
/// name a little-endian word: `XR24` is the bytes blue, green, red, unused.
public struct FourCC: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// - Parameter code: four ASCII characters, or nil is returned.
  public init?(_ code: String) {
    let bytes = Array(code.utf8)
    guard bytes.count == 4, bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
    rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private init(_ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar, _ d: Unicode.Scalar) {
    rawValue = a.value | b.value << 8 | c.value << 16 | d.value << 24
  }

  /// Bytes blue, green, red, unused; what X servers deliver. GStreamer's BGRx.
  public static let xrgb8888 = FourCC("X", "R", "2", "4")
  /// Bytes blue, green, red, alpha. GStreamer's BGRA.
  public static let argb8888 = FourCC("A", "R", "2", "4")
  /// Bytes red, green, blue, unused. GStreamer's RGBx.
  public static let xbgr8888 = FourCC("X", "B", "2", "4")
  /// Bytes red, green, blue, alpha. GStreamer's RGBA.
  public static let abgr8888 = FourCC("A", "B", "2", "4")
  /// Bytes blue, green, red. GStreamer's BGR.
  public static let rgb888 = FourCC("R", "G", "2", "4")
  /// Bytes red, green, blue. GStreamer's RGB.
  public static let bgr888 = FourCC("B", "G", "2", "4")
  /// Planar 4:2:0. GStreamer's I420.
  public static let yuv420 = FourCC("Y", "U", "1", "2")
  /// Planar 4:2:2. GStreamer's Y42B.
  public static let yuv422 = FourCC("Y", "U", "1", "6")
  /// Planar 4:4:4. GStreamer's Y444.
  public static let yuv444 = FourCC("Y", "U", "2", "4")
  /// 4:2:0 with interleaved chroma.
  public static let nv12 = FourCC("N", "V", "1", "2")
  /// Packed 4:2:2, luma first. GStreamer's YUY2.
  public static let yuyv = FourCC("Y", "U", "Y", "V")
  /// Packed 4:2:2, chroma first.
  public static let uyvy = FourCC("U", "Y", "V", "Y")
  /// One 8-bit channel. GStreamer's GRAY8.
  public static let r8 = FourCC("R", "8", " ", " ")

  public var description: String {
    String(
      String.UnicodeScalarView(
        (0..<4).map { Unicode.Scalar(UInt8(truncatingIfNeeded: rawValue >> ($0 * 8))) }))
  }
}

/// How the planes of a raw pixel format divide a picture.
struct PlaneShape {
  /// Bytes of one sample, or pair of samples, in a row.
  let bytes: Int
  /// Columns and rows of pixels that one such sample covers.
  let columns: Int
  let rows: Int
}

extension FourCC {
  /// The planes of a format that the bus knows the shape of; empty for all others.
  var planeShapes: [PlaneShape] {
    func shape(_ bytes: Int, _ columns: Int = 1, _ rows: Int = 1) -> PlaneShape {
      PlaneShape(bytes: bytes, columns: columns, rows: rows)
    }
    return switch self {
    case .xrgb8888, .argb8888, .xbgr8888, .abgr8888: [shape(4)]
    case .rgb888, .bgr888: [shape(3)]
    case .r8: [shape(1)]
    case .yuyv, .uyvy: [shape(4, 2)]
    case .nv12: [shape(1), shape(2, 2, 2)]
    case .yuv420: [shape(1), shape(1, 2, 2), shape(1, 2, 2)]
    case .yuv422: [shape(1), shape(1, 2), shape(1, 2)]
    case .yuv444: [shape(1), shape(1), shape(1)]
    default: []
    }
  }
}
