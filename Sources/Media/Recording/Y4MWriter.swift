import FrameBus

/// Converts raw pictures to a YUV4MPEG2 stream (yuv4mpeg(5) of mjpegtools). Planar YUV and grey
/// are copied; semi-planar and packed YUV are rearranged; RGB is converted to 4:4:4 by BT.601 with
/// video levels, which y4m readers assume. Pictures are written upright, because y4m has no
/// orientation.
public struct Y4MWriter: Sendable {
  private let format: FrameFormat
  private let layout: Y4MLayout
  /// The sampling of the stream.
  private let sampling: Y4MSampling
  private let orientation: Orientation
  /// The sampling of the picture in memory.
  private let ownSampling: Y4MSampling

  /// - Parameter orientation: the picture's orientation in memory.
  /// - Throws: ``Y4MWriterError`` if the format is not a picture, is too large to convert, or has
  ///   an unknown layout.
  public init(
    _ format: FrameFormat, orientation: Orientation = .up
  ) throws(Y4MWriterError) {
    guard format.kind == .video else { throw .notPicture(format) }
    guard !format.planes.isEmpty, format.width > 0, format.height > 0 else {
      throw .unknownLayout(format)
    }
    guard PictureLimits.any.contain(width: format.width, height: format.height) else {
      throw .tooLarge(format)
    }
    guard let conversion = Y4MConversion(format.fourcc) else { throw .unknownLayout(format) }
    self.format = format
    layout = conversion.layout
    self.orientation = orientation
    ownSampling = conversion.sampling
    // Columns become rows, and y4m has no chroma that is coarser between rows only.
    sampling = orientation.swapsSides ? conversion.sampling.squared : conversion.sampling
  }

  /// The stream's first line.
  public var header: [UInt8] {
    // 25 frames per second for a stream of changes: a y4m header must have a rate.
    let rate =
      format.frameRate.numerator > 0
      ? "\(format.frameRate.numerator):\(format.frameRate.denominator)" : "25:1"
    let size = orientation.upright(format.bounds, width: format.width, height: format.height)
    return Array("YUV4MPEG2 W\(size.width) H\(size.height) F\(rate) Ip C\(sampling.tag)\n".utf8)
  }

  /// The number of a picture's first bytes that are a frame of the stream as they lie in memory,
  /// after the marker; nil if they have to be rearranged.
  var unchangedByteCount: Int? {
    guard case .planar(let order, let sampleBytes) = layout, orientation == .up else { return nil }
    var end = 0
    for (component, number) in order.enumerated() {
      let (columns, rows) = size(of: component)
      let plane = format.planes[number]
      guard plane.offset == end, plane.stride == columns * sampleBytes else { return nil }
      end += plane.stride * rows
    }
    return end
  }

  /// The line before each frame.
  static let marker = Array("FRAME\n".utf8)

  /// Writes one frame of the stream into an array, whose memory is used again for the next one.
  /// - Parameter bytes: at least the format's byte count.
  public func write(_ bytes: RawSpan, into result: inout [UInt8]) {
    precondition(bytes.byteCount >= format.byteCount, "\(bytes.byteCount) bytes of a picture")
    if case .rgb(let rgb) = layout { return convert(bytes, rgb, into: &result) }
    result.removeAll(keepingCapacity: true)
    result += Self.marker
    result.reserveCapacity(result.count + 3 * format.width * format.height)
    switch layout {
    case .planar(let order, let sampleBytes):
      for (component, plane) in order.enumerated() {
        add(component, sampleBytes, to: &result) {
          appendRows(of: format.planes[plane], component, sampleBytes, bytes, to: &$0)
        }
      }
    case .semiPlanar(let u):
      add(0, to: &result) { appendRows(of: format.planes[0], 0, 1, bytes, to: &$0) }
      for first in [u, 1 - u] {
        add(1, to: &result) {
          appendSamples(of: format.planes[1], 1, from: first, every: 2, bytes, to: &$0)
        }
      }
    case .packed(let y, let u, let v):
      add(0, to: &result) {
        appendSamples(of: format.planes[0], 0, from: y, every: 2, bytes, to: &$0)
      }
      for first in [u, v] {
        add(1, to: &result) {
          appendSamples(of: format.planes[0], 1, from: first, every: 4, bytes, to: &$0)
        }
      }
    case .rgb: break
    }
  }

  private func convert(_ bytes: RawSpan, _ layout: RGBLayout, into result: inout [UInt8]) {
    let (start, size) = (Self.marker.count, format.width * format.height)
    // The bytes of the frame before, all of which are replaced, cost no filling.
    if result.count != start + 3 * size {
      result = Self.marker + [UInt8](repeating: 0, count: 3 * size)
    }
    var elements = result.mutableSpan
    // SAFETY: bytes accept every value and have no padding.
    var span = unsafe elements.mutableBytes
    layout.convert(bytes, of: format, into: &span, at: start)
    if orientation == .up { return }
    let turn = PlaneTurn(
      orientation: orientation, columns: format.width, rows: format.height, sampleBytes: 1)
    for plane in 0..<3 {
      let range = start + plane * size..<start + (plane + 1) * size
      result.replaceSubrange(range, with: turn.upright(Array(result[range])))
    }
  }

  /// Adds a plane, upright.
  private func add(
    _ component: Int, _ sampleBytes: Int = 1, to result: inout [UInt8],
    _ appendPlane: (inout [UInt8]) -> Void
  ) {
    if orientation == .up { return appendPlane(&result) }
    var plane: [UInt8] = []
    appendPlane(&plane)
    var (columns, rows) = size(of: component)
    if sampling != ownSampling, component > 0 {
      plane = Self.widened(plane, columns, to: format.width, sampleBytes)
      columns = format.width
    }
    let turn = PlaneTurn(
      orientation: orientation, columns: columns, rows: rows, sampleBytes: sampleBytes)
    result += turn.upright(plane)
  }

  /// Repeats each sample once in its row, so that chroma has as many columns as luma.
  private static func widened(
    _ plane: [UInt8], _ columns: Int, to width: Int, _ sampleBytes: Int
  ) -> [UInt8] {
    let rowBytes = columns * sampleBytes
    return stride(from: 0, to: plane.count, by: max(1, rowBytes)).flatMap { start in
      (0..<width).flatMap { column in
        let sample = start + column / 2 * sampleBytes
        return plane[sample..<sample + sampleBytes]
      }
    }
  }

  /// The number of samples in a component's row, and of rows.
  private func size(of component: Int) -> (columns: Int, rows: Int) {
    guard component > 0 else { return (format.width, format.height) }
    return (
      (format.width + ownSampling.columns - 1) / ownSampling.columns,
      (format.height + ownSampling.rows - 1) / ownSampling.rows
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
    var index = result.count
    result += repeatElement(0, count: rows * columns)
    var samples = result.mutableSpan
    for row in 0..<rows {
      let start = plane.offset + row * plane.stride + first
      for column in 0..<columns {
        // SAFETY: any byte is a sample; the load is checked against the span.
        samples[index] = unsafe bytes.unsafeLoad(
          fromByteOffset: start + column * step, as: UInt8.self)
        index += 1
      }
    }
  }
}

public enum Y4MWriterError: Error, Hashable, Sendable, CustomStringConvertible {
  case notPicture(FrameFormat)
  case unknownLayout(FrameFormat)
  case tooLarge(FrameFormat)

  public var description: String {
    switch self {
    case .notPicture(let format):
      "y4m is for pictures, and this is \(format.kind): use --raw to get the unchanged bytes"
    case .unknownLayout(let format):
      "“\(format.fourcc)” cannot be converted to y4m: use --raw to get the unchanged bytes"
    case .tooLarge(let format):
      "pictures of \(format.width)×\(format.height) pixels are too large to convert to y4m, which "
        + "takes \(PictureLimits.any): use --raw to get the unchanged bytes"
    }
  }
}
