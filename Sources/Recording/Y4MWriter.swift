import FrameBus

/// Turns raw pictures into a YUV4MPEG2 stream (yuv4mpeg(5) of mjpegtools). Planar YUV and grey go
/// over as they are; semi-planar and packed YUV are laid out anew; RGB is converted to 4:4:4 by
/// BT.601 with video levels, which is what readers of y4m take it for.
public struct Y4MWriter: Sendable {
  private let format: FrameFormat
  private let layout: Layout

  /// What happens to a picture's bytes.
  private enum Layout: Sendable {
    /// Rows of the planes as they are, but for their padding; `order` names the planes as Y, U, V.
    case planar(order: [Int])
    /// The second plane has pairs of chroma; whether V comes first in them.
    case semiPlanar(isSwapped: Bool)
    /// Two pixels in four bytes: where the first Y, U and V stand.
    case packed(y: Int, u: Int, v: Int)
    case rgb(RGBLayout)
  }

  /// What y4m calls the sampling, and by how many columns and rows chroma is coarser.
  private let sampling: Sampling
  private struct Sampling: Sendable {
    let tag: String
    let columns: Int
    let rows: Int

    static let s420 = Sampling(tag: "420jpeg", columns: 2, rows: 2)
    static let s422 = Sampling(tag: "422", columns: 2, rows: 1)
    static let s444 = Sampling(tag: "444", columns: 1, rows: 1)
    static let mono = Sampling(tag: "mono", columns: 0, rows: 0)
  }

  /// - Throws: ``Y4MWriterError`` for what is no picture, or one whose layout is not known.
  public init(_ format: FrameFormat) throws(Y4MWriterError) {
    guard format.kind == .video else { throw .notPicture(format) }
    guard !format.planes.isEmpty, format.width > 0, format.height > 0 else {
      throw .unknownLayout(format)
    }
    self.format = format
    switch format.fourcc {
    case .yuv420: (layout, sampling) = (.planar(order: [0, 1, 2]), .s420)
    case .yuv422: (layout, sampling) = (.planar(order: [0, 1, 2]), .s422)
    case .yuv444: (layout, sampling) = (.planar(order: [0, 1, 2]), .s444)
    case .r8: (layout, sampling) = (.planar(order: [0]), .mono)
    case .nv12: (layout, sampling) = (.semiPlanar(isSwapped: false), .s420)
    case .yuyv: (layout, sampling) = (.packed(y: 0, u: 1, v: 3), .s422)
    case .uyvy: (layout, sampling) = (.packed(y: 1, u: 0, v: 2), .s422)
    default:
      guard let rgb = RGBLayout(format.fourcc) else { throw .unknownLayout(format) }
      (layout, sampling) = (.rgb(rgb), .s444)
    }
  }

  /// The stream's first line.
  public var header: [UInt8] {
    // 25 frames a second where they come when something changes: a y4m stream has to say some rate.
    let rate =
      format.frameRate.numerator > 0
      ? "\(format.frameRate.numerator):\(format.frameRate.denominator)" : "25:1"
    return Array("YUV4MPEG2 W\(format.width) H\(format.height) F\(rate) Ip C\(sampling.tag)\n".utf8)
  }

  /// One frame of the stream.
  /// - Parameter bytes: at least the format's.
  public func frame(_ bytes: RawSpan) -> [UInt8] {
    precondition(bytes.byteCount >= format.byteCount, "\(bytes.byteCount) bytes of a picture")
    var result = Array("FRAME\n".utf8)
    result.reserveCapacity(result.count + 3 * format.width * format.height)
    switch layout {
    case .planar(let order):
      for (component, plane) in order.enumerated() {
        appendRows(of: format.planes[plane], component, bytes, to: &result)
      }
    case .semiPlanar(let isSwapped):
      appendRows(of: format.planes[0], 0, bytes, to: &result)
      for first in isSwapped ? [1, 0] : [0, 1] {
        appendSamples(of: format.planes[1], 1, from: first, every: 2, bytes, to: &result)
      }
    case .packed(let y, let u, let v):
      appendSamples(of: format.planes[0], 0, from: y, every: 2, bytes, to: &result)
      for first in [u, v] {
        appendSamples(of: format.planes[0], 1, from: first, every: 4, bytes, to: &result)
      }
    case .rgb(let layout):
      for component in VideoComponent.all {
        layout.append(component, of: format, bytes, to: &result)
      }
    }
    return result
  }

  /// How many samples a row of a component has, and how many rows there are.
  private func size(of component: Int) -> (columns: Int, rows: Int) {
    guard component > 0 else { return (format.width, format.height) }
    return (
      (format.width + sampling.columns - 1) / sampling.columns,
      (format.height + sampling.rows - 1) / sampling.rows
    )
  }

  private func appendRows(
    of plane: Plane, _ component: Int, _ bytes: RawSpan, to result: inout [UInt8]
  ) {
    let (columns, rows) = size(of: component)
    for row in 0..<rows {
      let start = plane.offset + row * plane.stride
      // SAFETY: copied within the call.
      unsafe bytes.extracting(start..<start + columns).withUnsafeBytes { unsafe result += $0 }
    }
  }

  private func appendSamples(
    of plane: Plane, _ component: Int, from first: Int, every step: Int, _ bytes: RawSpan,
    to result: inout [UInt8]
  ) {
    let (columns, rows) = size(of: component)
    for row in 0..<rows {
      let start = plane.offset + row * plane.stride + first
      for column in 0..<columns {
        // SAFETY: any byte is a sample; the load is checked against the span.
        result.append(
          unsafe bytes.unsafeLoad(fromByteOffset: start + column * step, as: UInt8.self))
      }
    }
  }
}

public enum Y4MWriterError: Error, Hashable, Sendable, CustomStringConvertible {
  case notPicture(FrameFormat)
  case unknownLayout(FrameFormat)

  public var description: String {
    switch self {
    case .notPicture(let format):
      "y4m is for pictures, and this is \(format.kind): use --raw to have the bytes as they are"
    case .unknownLayout(let format):
      "there is no way from “\(format.fourcc)” to y4m: use --raw to have the bytes as they are"
    }
  }
}
