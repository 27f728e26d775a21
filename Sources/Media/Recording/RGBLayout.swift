import FrameBus

/// The byte offsets of red, green and blue in a pixel.
struct RGBLayout: Hashable, Sendable {
  let pixelBytes: Int
  let red: Int
  let green: Int
  let blue: Int

  init?(_ fourcc: FourCC) {
    switch fourcc {
    case .xrgb8888, .argb8888: (pixelBytes, red, green, blue) = (4, 2, 1, 0)
    case .xbgr8888, .abgr8888: (pixelBytes, red, green, blue) = (4, 0, 1, 2)
    case .rgbx8888, .rgba8888: (pixelBytes, red, green, blue) = (4, 3, 2, 1)
    case .bgrx8888, .bgra8888: (pixelBytes, red, green, blue) = (4, 1, 2, 3)
    case .rgb888: (pixelBytes, red, green, blue) = (3, 2, 1, 0)
    case .bgr888: (pixelBytes, red, green, blue) = (3, 0, 1, 2)
    default: return nil
    }
  }

  /// Converts the whole picture to three planes of bytes, one after the other.
  /// - Parameter first: the offset of the first plane in `planes`.
  @_lifetime(planes: copy planes)
  func convert(
    _ bytes: RawSpan, of format: FrameFormat, into planes: inout MutableRawSpan, at first: Int
  ) {
    let (width, height) = (format.width, format.height)
    for row in 0..<height {
      let start = format.planes[0].offset + row * format.planes[0].stride
      let pixels = bytes.extracting(start..<start + width * pixelBytes)
      for column in stride(from: 0, to: width, by: PixelBlock.count) {
        let count = min(PixelBlock.count, width - column)
        let block = PixelBlock(pixels, self, from: column, count)
        let place = first + row * width + column
        Self.store(block.values(of: .luma), count, into: &planes, at: place)
        Self.store(block.values(of: .blueness), count, into: &planes, at: place + width * height)
        Self.store(block.values(of: .redness), count, into: &planes, at: place + 2 * width * height)
      }
    }
  }

  @inline(__always)
  private static func store(
    _ values: SIMD16<UInt8>, _ count: Int, into planes: inout MutableRawSpan, at offset: Int
  ) {
    if count == PixelBlock.count {
      return planes.storeBytes(of: values, toByteOffset: offset, as: SIMD16<UInt8>.self)
    }
    for index in 0..<count {
      planes.storeBytes(of: values[index], toByteOffset: offset + index, as: UInt8.self)
    }
  }
}

/// The colours of neighbouring pixels. The compiler makes vector instructions of what is done with
/// them, because the factors are constants of 16 bits.
private struct PixelBlock {
  static let count = 16

  private let red: SIMD16<UInt32>
  private let green: SIMD16<UInt32>
  private let blue: SIMD16<UInt32>

  /// - Parameter count: at most as many as a block has; the others are black.
  @inline(__always)
  init(_ pixels: RawSpan, _ layout: RGBLayout, from column: Int, _ count: Int) {
    // The lowest byte of a word is the first.
    var words = SIMD16<UInt32>()
    // SAFETY: any bytes are a word; loads are checked against the span.
    if layout.pixelBytes == 4, count == Self.count {
      words = unsafe pixels.unsafeLoadUnaligned(
        fromByteOffset: column * 4, as: SIMD16<UInt32>.self)
    } else {
      for index in 0..<count {
        for byte in 0..<layout.pixelBytes {
          let offset = (column + index) * layout.pixelBytes + byte
          let value = unsafe pixels.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          words[index] |= UInt32(value) << UInt32(8 * byte)
        }
      }
    }
    @inline(__always)
    func channel(_ byte: Int) -> SIMD16<UInt32> {
      (words &>> SIMD16(repeating: UInt32(8 * byte))) & SIMD16(repeating: 255)
    }
    red = channel(layout.red)
    green = channel(layout.green)
    blue = channel(layout.blue)
  }

  @inline(__always)
  func values(of component: VideoComponent) -> SIMD16<UInt8> {
    @inline(__always)
    func times(_ factor: Int32, _ color: SIMD16<UInt32>) -> SIMD16<UInt32> {
      SIMD16(repeating: UInt32(bitPattern: factor)) &* color
    }
    let sum =
      times(component.red, red) &+ times(component.green, green) &+ times(component.blue, blue)
    let rounded = sum &+ SIMD16(repeating: UInt32(component.offset) << 15 + 1 << 14)
    return SIMD16<UInt8>(truncatingIfNeeded: rounded &>> SIMD16(repeating: 15))
  }
}

/// A linear combination of red, green and blue, in 1/32768: ITU-R BT.601-7, sections 2.5.1 and
/// 2.5.2, with 8 bits and video levels (Y′ 16…235, C 16…240), rounded to the nearest. Grey keeps
/// its chroma of 128, because the factors of each chroma add up to 0.
private struct VideoComponent {
  let red: Int32
  let green: Int32
  let blue: Int32
  let offset: Int32

  static var luma: VideoComponent {
    @inline(__always) get { VideoComponent(red: 8414, green: 16520, blue: 3208, offset: 16) }
  }
  /// C_B.
  static var blueness: VideoComponent {
    @inline(__always) get { VideoComponent(red: -4857, green: -9535, blue: 14392, offset: 128) }
  }
  /// C_R.
  static var redness: VideoComponent {
    @inline(__always) get { VideoComponent(red: 14392, green: -12052, blue: -2340, offset: 128) }
  }
}
