import FrameBus

/// The frame number and time code that the test pattern draws in black and white blocks, so
/// that a program behind an encoder and decoder can identify the frame.
///
/// 80 bits in 4 rows of 20 square blocks, the most significant bit first (white = 1): the
/// sequence number's low 32 bits, the time in milliseconds (low 32 bits), and a CRC-16/CCITT
/// over those 8 bytes. A block's side is `min(width / 22, height / 8)` pixels; the grid begins
/// one block from the left and top edges. Averaging the middle of each block makes it robust
/// through lossy coding; the checksum makes a misreading improbable (1 in 65,536).
public struct TestPatternMark: Hashable, Sendable {
  /// The low 32 bits of the frame's number.
  public var sequence: UInt32
  /// The low 32 bits of the time.
  public var milliseconds: UInt32

  /// A mark of a number and a time.
  public init(sequence: UInt32, milliseconds: UInt32) {
    self.sequence = sequence
    self.milliseconds = milliseconds
  }

  static let columns = 20
  static let rows = 4

  /// The side of a block, or nil if the picture is too small to carry a mark.
  static func blockSide(width: Int, height: Int) -> Int? {
    let side = min(width / (columns + 2), height / (rows + 4))
    return side >= 4 ? side : nil
  }

  /// The bits in drawing order.
  var bits: [Bool] {
    let value = UInt64(sequence) << 32 | UInt64(milliseconds)
    let checksum = Self.checksum(of: value)
    return (0..<64).map { value >> (63 - UInt64($0)) & 1 == 1 }
      + (0..<16).map { checksum >> (15 - UInt16($0)) & 1 == 1 }
  }

  init?(bits: [Bool]) {
    let value = bits.prefix(64).reduce(into: UInt64(0)) { $0 = $0 << 1 | ($1 ? 1 : 0) }
    let checksum = bits.dropFirst(64).reduce(into: UInt16(0)) { $0 = $0 << 1 | ($1 ? 1 : 0) }
    guard checksum == Self.checksum(of: value) else { return nil }
    self.init(
      sequence: UInt32(truncatingIfNeeded: value >> 32),
      milliseconds: UInt32(truncatingIfNeeded: value))
  }

  /// CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF) over the big-endian bytes.
  private static func checksum(of value: UInt64) -> UInt16 {
    var crc: UInt16 = 0xFFFF
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      crc ^= UInt16(value >> shift & 0xFF) << 8
      for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
    }
    return crc
  }

  @_lifetime(canvas: copy canvas)
  func draw(on canvas: inout PixelCanvas) {
    guard let side = Self.blockSide(width: canvas.width, height: canvas.height) else { return }
    // A dark frame around the blocks keeps the background from bleeding into them.
    let gridWidth = Self.columns * side
    let gridHeight = Self.rows * side
    let margin = side / 2
    canvas.fill(
      PixelRect(
        x: side - margin, y: side - margin, width: gridWidth + 2 * margin,
        height: gridHeight + 2 * margin), 0x101010)
    for (index, bit) in bits.enumerated() {
      let x = side * (1 + index % Self.columns)
      let y = side * (1 + index / Self.columns)
      canvas.fill(PixelRect(x: x, y: y, width: side, height: side), bit ? 0xFFFFFF : 0x000000)
    }
  }
}

extension TestPatternMark {
  /// Reads the mark from a picture, given the brightness of each pixel.
  /// - Parameter luma: brightness at (x, y), 0…255, of any range.
  /// - Returns: nil if there is no readable mark.
  public init?(width: Int, height: Int, luma: (Int, Int) -> UInt8) {
    // An encoder crops or pads an odd size by one pixel, which may change the block's side.
    var sides: [Int] = []
    for extra in [0, 1, -1] {
      let side = Self.blockSide(width: width + extra, height: height + extra)
      if let side, !sides.contains(side), side * (Self.columns + 1) <= width { sides.append(side) }
    }
    for side in sides {
      let bits = (0..<Self.rows * Self.columns).map { index in
        Self.average(
          luma, x: side * (1 + index % Self.columns), y: side * (1 + index / Self.columns),
          side: side) >= 128
      }
      if let mark = TestPatternMark(bits: bits) {
        self = mark
        return
      }
    }
    return nil
  }

  /// Reads the mark from a frame of a stream, or from any pixels with a frame format.
  public init?(format: FrameFormat, bytes: RawSpan) {
    guard format.kind == .video, bytes.byteCount >= format.byteCount else { return nil }
    let plane = format.planes[0]
    let pixelStride: Int
    let first: Int
    switch format.fourcc {
    case .xrgb8888, .argb8888, .xbgr8888: (pixelStride, first) = (4, 1)  // green
    case .rgb888: (pixelStride, first) = (3, 1)
    case .yuv420, .yuv422, .yuv444, .nv12, .r8: (pixelStride, first) = (1, 0)
    case .yuyv: (pixelStride, first) = (2, 0)
    case .uyvy: (pixelStride, first) = (2, 1)
    default: return nil
    }
    self.init(width: format.width, height: format.height) { x, y in
      Self.byte(bytes, at: plane.offset + y * plane.stride + x * pixelStride + first)
    }
  }

  /// A byte of the picture; 0 (black) beyond its end, in case the format is wrong.
  private static func byte(_ bytes: RawSpan, at offset: Int) -> UInt8 {
    // SAFETY: any byte is a valid UInt8; the load itself is bounds-checked.
    (0..<bytes.byteCount).contains(offset)
      ? unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : 0
  }

  /// The mean brightness of the middle quarter of a block.
  private static func average(
    _ luma: (Int, Int) -> UInt8, x: Int, y: Int, side: Int
  ) -> Int {
    let inset = side / 4
    var sum = 0
    var count = 0
    for row in y + inset..<y + side - inset {
      for column in x + inset..<x + side - inset {
        sum += Int(luma(column, row))
        count += 1
      }
    }
    return sum / count
  }
}
