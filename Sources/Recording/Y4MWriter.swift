import FrameBus

/// Turns raw pictures into a YUV4MPEG2 stream (yuv4mpeg(5) of mjpegtools). Planar YUV and grey go
/// over as they are; semi-planar and packed YUV are laid out anew; RGB is converted to 4:4:4 by
/// BT.601 with video levels, which is what readers of y4m take it for.
public struct Y4MWriter: Sendable {
  private let format: FrameFormat
  private let layout: Y4MLayout
  private let sampling: Y4MSampling

  /// - Throws: ``Y4MWriterError`` for what is no picture, or one whose layout is not known.
  public init(_ format: FrameFormat) throws(Y4MWriterError) {
    guard format.kind == .video else { throw .notPicture(format) }
    guard !format.planes.isEmpty, format.width > 0, format.height > 0 else {
      throw .unknownLayout(format)
    }
    guard let way = Y4MWay(format.fourcc) else { throw .unknownLayout(format) }
    self.format = format
    layout = way.layout
    sampling = way.sampling
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
    case .planar(let order, let sampleBytes):
      for (component, plane) in order.enumerated() {
        appendRows(of: format.planes[plane], component, sampleBytes, bytes, to: &result)
      }
    case .semiPlanar(let u):
      appendRows(of: format.planes[0], 0, 1, bytes, to: &result)
      for first in [u, 1 - u] {
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
    of plane: Plane, _ component: Int, _ sampleBytes: Int, _ bytes: RawSpan,
    to result: inout [UInt8]
  ) {
    let (columns, rows) = size(of: component)
    for row in 0..<rows {
      let start = plane.offset + row * plane.stride
      // SAFETY: copied within the call.
      unsafe bytes.extracting(start..<start + columns * sampleBytes).withUnsafeBytes {
        unsafe result += $0
      }
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
