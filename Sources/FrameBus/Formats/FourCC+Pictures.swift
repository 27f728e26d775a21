// DRM codes of the raw pixel formats whose layout the bus knows. They name a little-endian word:
// `XR24` is the bytes blue, green, red, unused. GStreamer's names follow.

/// Packed: one plane.
extension FourCC {
  /// Bytes blue, green, red, unused; what X servers deliver. BGRx.
  public static let xrgb8888 = FourCC("X", "R", "2", "4")
  /// Bytes blue, green, red, alpha. BGRA.
  public static let argb8888 = FourCC("A", "R", "2", "4")
  /// Bytes red, green, blue, unused. RGBx.
  public static let xbgr8888 = FourCC("X", "B", "2", "4")
  /// Bytes red, green, blue, alpha. RGBA.
  public static let abgr8888 = FourCC("A", "B", "2", "4")
  /// Bytes unused, blue, green, red. xBGR.
  public static let rgbx8888 = FourCC("R", "X", "2", "4")
  /// Bytes alpha, blue, green, red. ABGR.
  public static let rgba8888 = FourCC("R", "A", "2", "4")
  /// Bytes unused, red, green, blue. xRGB.
  public static let bgrx8888 = FourCC("B", "X", "2", "4")
  /// Bytes alpha, red, green, blue. ARGB.
  public static let bgra8888 = FourCC("B", "A", "2", "4")
  /// Bytes blue, green, red. BGR.
  public static let rgb888 = FourCC("R", "G", "2", "4")
  /// Bytes red, green, blue. RGB.
  public static let bgr888 = FourCC("B", "G", "2", "4")
  /// 5 bits of blue lowest, 6 of green, 5 of red. RGB16.
  public static let rgb565 = FourCC("R", "G", "1", "6")
  /// 5 bits of red lowest, 6 of green, 5 of blue. BGR16.
  public static let bgr565 = FourCC("B", "G", "1", "6")
  /// 10 bits each: blue lowest, green, red; 2 unused. What 30-bit X screens deliver. BGR10x2_LE.
  public static let xrgb2101010 = FourCC("X", "R", "3", "0")
  /// As `xrgb2101010`, with 2 bits of alpha. BGR10A2_LE.
  public static let argb2101010 = FourCC("A", "R", "3", "0")
  /// 10 bits each: red lowest, green, blue; 2 unused. RGB10x2_LE.
  public static let xbgr2101010 = FourCC("X", "B", "3", "0")
  /// As `xbgr2101010`, with 2 bits of alpha. RGB10A2_LE.
  public static let abgr2101010 = FourCC("A", "B", "3", "0")
  /// 16 bits each: red, green, blue, alpha. RGBA64_LE.
  public static let abgr16161616 = FourCC("A", "B", "4", "8")
  /// Half-precision floats: red, green, blue, alpha.
  public static let abgr16161616f = FourCC("A", "B", "4", "H")
  /// 4:4:4, bytes V, U, Y, alpha. VUYA.
  public static let ayuv = FourCC("A", "Y", "U", "V")
  /// 4:2:2, luma first. YUY2.
  public static let yuyv = FourCC("Y", "U", "Y", "V")
  /// 4:2:2, luma first, V before U. YVYU.
  public static let yvyu = FourCC("Y", "V", "Y", "U")
  /// 4:2:2, chroma first. UYVY.
  public static let uyvy = FourCC("U", "Y", "V", "Y")
  /// 4:2:2, chroma first, V before U. VYUY.
  public static let vyuy = FourCC("V", "Y", "U", "Y")
  /// 4:2:2, luma first, the high 10 of 16 bits. Y210.
  public static let y210 = FourCC("Y", "2", "1", "0")
  /// One 8-bit channel. GRAY8.
  public static let r8 = FourCC("R", "8", " ", " ")
  /// One 16-bit channel. GRAY16_LE.
  public static let r16 = FourCC("R", "1", "6", " ")
}

/// Semi-planar: luma, then interleaved chroma.
extension FourCC {
  /// 4:2:0.
  public static let nv12 = FourCC("N", "V", "1", "2")
  /// 4:2:0, V before U.
  public static let nv21 = FourCC("N", "V", "2", "1")
  /// 4:2:2.
  public static let nv16 = FourCC("N", "V", "1", "6")
  /// 4:2:2, V before U.
  public static let nv61 = FourCC("N", "V", "6", "1")
  /// 4:4:4.
  public static let nv24 = FourCC("N", "V", "2", "4")
  /// 4:4:4, V before U.
  public static let nv42 = FourCC("N", "V", "4", "2")
  /// 4:2:0, the high 10 of 16 bits. P010_10LE.
  public static let p010 = FourCC("P", "0", "1", "0")
  /// 4:2:0, the high 12 of 16 bits. P012_LE.
  public static let p012 = FourCC("P", "0", "1", "2")
  /// 4:2:0, 16 bits. P016_LE.
  public static let p016 = FourCC("P", "0", "1", "6")
  /// 4:2:2, the high 10 of 16 bits.
  public static let p210 = FourCC("P", "2", "1", "0")
}

/// Planar: luma, U, V, unless stated otherwise.
extension FourCC {
  /// 4:2:0. I420.
  public static let yuv420 = FourCC("Y", "U", "1", "2")
  /// 4:2:0, V before U. YV12.
  public static let yvu420 = FourCC("Y", "V", "1", "2")
  /// 4:2:2. Y42B.
  public static let yuv422 = FourCC("Y", "U", "1", "6")
  /// 4:4:4. Y444.
  public static let yuv444 = FourCC("Y", "U", "2", "4")
  /// 4:2:0, the low 10 of 16 bits. I420_10LE.
  public static let s010 = FourCC("S", "0", "1", "0")
  /// 4:2:0, the low 12 of 16 bits. I420_12LE.
  public static let s012 = FourCC("S", "0", "1", "2")
  /// 4:2:2, the low 10 of 16 bits. I422_10LE.
  public static let s210 = FourCC("S", "2", "1", "0")
  /// 4:2:2, the low 12 of 16 bits. I422_12LE.
  public static let s212 = FourCC("S", "2", "1", "2")
  /// 4:4:4, the low 10 of 16 bits. Y444_10LE.
  public static let s410 = FourCC("S", "4", "1", "0")
  /// 4:4:4, the low 12 of 16 bits. Y444_12LE.
  public static let s412 = FourCC("S", "4", "1", "2")
}

/// The sampling of one plane of a raw pixel format.
struct PlaneShape {
  /// Bytes of one sample or group of samples in a row.
  let bytes: Int
  /// Columns and rows of pixels that one sample covers.
  let columns: Int
  let rows: Int

  init(_ bytes: Int, columns: Int = 1, rows: Int = 1) {
    self.bytes = bytes
    self.columns = columns
    self.rows = rows
  }

  func rowBytes(width: Int) -> Int { (width + columns - 1) / columns * bytes }
  func rowCount(height: Int) -> Int { (height + rows - 1) / rows }
}

extension FourCC {
  /// The planes of a format whose layout the bus knows; empty for all others.
  var planeShapes: [PlaneShape] {
    switch self {
    case .r8: [PlaneShape(1)]
    case .r16, .rgb565, .bgr565: [PlaneShape(2)]
    case .rgb888, .bgr888: [PlaneShape(3)]
    case .xrgb8888, .argb8888, .xbgr8888, .abgr8888, .rgbx8888, .rgba8888, .bgrx8888, .bgra8888,
      .xrgb2101010, .argb2101010, .xbgr2101010, .abgr2101010, .ayuv:
      [PlaneShape(4)]
    case .abgr16161616, .abgr16161616f: [PlaneShape(8)]
    case .yuyv, .yvyu, .uyvy, .vyuy: [PlaneShape(4, columns: 2)]
    case .y210: [PlaneShape(8, columns: 2)]
    case .nv12, .nv21: [PlaneShape(1), PlaneShape(2, columns: 2, rows: 2)]
    case .nv16, .nv61: [PlaneShape(1), PlaneShape(2, columns: 2)]
    case .nv24, .nv42: [PlaneShape(1), PlaneShape(2)]
    case .p010, .p012, .p016: [PlaneShape(2), PlaneShape(4, columns: 2, rows: 2)]
    case .p210: [PlaneShape(2), PlaneShape(4, columns: 2)]
    case .yuv420, .yvu420: Self.planar(1, columns: 2, rows: 2)
    case .yuv422: Self.planar(1, columns: 2)
    case .yuv444: Self.planar(1)
    case .s010, .s012: Self.planar(2, columns: 2, rows: 2)
    case .s210, .s212: Self.planar(2, columns: 2)
    case .s410, .s412: Self.planar(2)
    default: []
    }
  }

  private static func planar(_ bytes: Int, columns: Int = 1, rows: Int = 1) -> [PlaneShape] {
    let chroma = PlaneShape(bytes, columns: columns, rows: rows)
    return [PlaneShape(bytes), chroma, chroma]
  }
}
