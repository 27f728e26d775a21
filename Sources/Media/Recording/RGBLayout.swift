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

  /// Appends one component of the whole picture.
  func append(
    _ component: VideoComponent, of format: FrameFormat, _ bytes: RawSpan,
    to result: inout [UInt8]
  ) {
    let plane = format.planes[0]
    for row in 0..<format.height {
      let start = plane.offset + row * plane.stride
      let pixels = bytes.extracting(start..<start + format.width * pixelBytes)
      result.append(addingCapacity: format.width) { output in
        for column in 0..<format.width {
          output.append(component.value(at: column * pixelBytes, of: pixels, self))
        }
      }
    }
  }
}

/// A linear combination of red, green and blue, in 1/65536: ITU-R BT.601-7, sections 2.5.1 and
/// 2.5.2, with 8 bits and video levels (Y′ 16…235, C 16…240), rounded to the nearest.
struct VideoComponent: Hashable, Sendable {
  let red: Int32
  let green: Int32
  let blue: Int32
  let offset: Int32

  static let all = [
    VideoComponent(red: 16829, green: 33039, blue: 6416, offset: 16),
    VideoComponent(red: -9714, green: -19070, blue: 28784, offset: 128),
    VideoComponent(red: 28784, green: -24103, blue: -4681, offset: 128),
  ]

  @inline(__always)
  func value(at offset: Int, of pixels: RawSpan, _ layout: RGBLayout) -> UInt8 {
    // SAFETY: any byte is a sample; the load is checked against the span.
    func sample(_ position: Int) -> Int32 {
      unsafe Int32(pixels.unsafeLoad(fromByteOffset: offset + position, as: UInt8.self))
    }
    let sum =
      red &* sample(layout.red) &+ green &* sample(layout.green) &+ blue &* sample(layout.blue)
    return UInt8(truncatingIfNeeded: (sum &+ 32768) >> 16 &+ self.offset)
  }
}
