import FrameBus

/// How a raw picture is converted to the planes Y, U and V of a y4m stream.
enum Y4MLayout: Hashable, Sendable {
  /// The planes' rows, without their padding; `order` lists the planes as Y, U, V.
  case planar(order: [Int], sampleBytes: Int = 1)
  /// The second plane holds chroma pairs; U is at index `first` of each.
  case semiPlanar(first: Int)
  /// Two pixels in four bytes: the offsets of the first Y, U and V.
  case packed(y: Int, u: Int, v: Int)
  case rgb(RGBLayout)
}

/// A chroma sampling: its y4m name, and by how many columns and rows it is coarser than luma.
struct Y4MSampling: Hashable, Sendable {
  let tag: String
  let columns: Int
  let rows: Int

  static let s420 = Y4MSampling(tag: "420jpeg", columns: 2, rows: 2)
  static let s422 = Y4MSampling(tag: "422", columns: 2, rows: 1)
  static let s444 = Y4MSampling(tag: "444", columns: 1, rows: 1)
  static let mono = Y4MSampling(tag: "mono", columns: 1, rows: 1)
  static let s420p10 = Y4MSampling(tag: "420p10", columns: 2, rows: 2)
  static let s420p12 = Y4MSampling(tag: "420p12", columns: 2, rows: 2)
  static let s422p10 = Y4MSampling(tag: "422p10", columns: 2, rows: 1)
  static let s422p12 = Y4MSampling(tag: "422p12", columns: 2, rows: 1)
  static let s444p10 = Y4MSampling(tag: "444p10", columns: 1, rows: 1)
  static let s444p12 = Y4MSampling(tag: "444p12", columns: 1, rows: 1)

  /// This sampling, with columns as fine as its rows where they are coarser.
  var squared: Y4MSampling {
    switch self {
    case .s422: .s444
    case .s422p10: .s444p10
    case .s422p12: .s444p12
    default: self
    }
  }
}

/// The conversion of a pixel format to y4m.
struct Y4MConversion: Hashable, Sendable {
  let layout: Y4MLayout
  let sampling: Y4MSampling

  init?(_ fourcc: FourCC) {
    let yuv = Y4MLayout.planar(order: [0, 1, 2])
    let wide = Y4MLayout.planar(order: [0, 1, 2], sampleBytes: 2)
    switch fourcc {
    case .yuv420: (layout, sampling) = (yuv, .s420)
    case .yvu420: (layout, sampling) = (.planar(order: [0, 2, 1]), .s420)
    case .yuv422: (layout, sampling) = (yuv, .s422)
    case .yuv444: (layout, sampling) = (yuv, .s444)
    case .s010: (layout, sampling) = (wide, .s420p10)
    case .s012: (layout, sampling) = (wide, .s420p12)
    case .s210: (layout, sampling) = (wide, .s422p10)
    case .s212: (layout, sampling) = (wide, .s422p12)
    case .s410: (layout, sampling) = (wide, .s444p10)
    case .s412: (layout, sampling) = (wide, .s444p12)
    case .r8: (layout, sampling) = (.planar(order: [0]), .mono)
    case .nv12: (layout, sampling) = (.semiPlanar(first: 0), .s420)
    case .nv21: (layout, sampling) = (.semiPlanar(first: 1), .s420)
    case .nv16: (layout, sampling) = (.semiPlanar(first: 0), .s422)
    case .nv61: (layout, sampling) = (.semiPlanar(first: 1), .s422)
    case .nv24: (layout, sampling) = (.semiPlanar(first: 0), .s444)
    case .nv42: (layout, sampling) = (.semiPlanar(first: 1), .s444)
    case .yuyv: (layout, sampling) = (.packed(y: 0, u: 1, v: 3), .s422)
    case .yvyu: (layout, sampling) = (.packed(y: 0, u: 3, v: 1), .s422)
    case .uyvy: (layout, sampling) = (.packed(y: 1, u: 0, v: 2), .s422)
    case .vyuy: (layout, sampling) = (.packed(y: 1, u: 2, v: 0), .s422)
    default:
      guard let rgb = RGBLayout(fourcc) else { return nil }
      (layout, sampling) = (.rgb(rgb), .s444)
    }
  }
}
