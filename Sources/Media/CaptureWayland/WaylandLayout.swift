#if Media
  import CWayland
  import FrameBus

  /// How a compositor lays out a frame in memory, checked.
  package struct WaylandLayout: Hashable {
    package let format: FrameFormat
    /// As the compositor named it (`wl_shm.format`).
    let code: UInt32
    package let stride: Int

    init(_ frame: wayland_frame, rate: FrameRate) throws(WaylandError) {
      guard let (fourcc, pixelBytes) = Self.encoding(of: frame.format) else {
        throw .unsupportedFormat("\(FourCC(rawValue: frame.format))")
      }
      let (width, height, stride) = (Int(frame.width), Int(frame.height), Int(frame.stride))
      let sides = 1...FrameFormat.maximumSide
      guard sides.contains(width), sides.contains(height), stride >= width * pixelBytes,
        stride % 4 == 0, stride <= Self.maximumStride
      else { throw .badLayout("\(width)x\(height) pixels with rows of \(stride) bytes") }
      guard stride * height <= Int(Int32.max) else {
        throw .poolTooLarge(byteCount: stride * height)
      }
      do {
        format = try FrameFormat(
          kind: .video, fourcc: fourcc, width: width, height: height,
          planes: [Plane(offset: 0, stride: stride)], byteCount: stride * height, frameRate: rate,
          colorSpace: .sRGB)
      } catch { throw .publishing(.format(error)) }
      code = frame.format
      self.stride = stride
    }

    private static let maximumStride = FrameFormat.maximumSide * 16

    /// Nil for a format that is not captured. Nothing lies behind an output, so its alpha means
    /// nothing.
    private static func encoding(of code: UInt32) -> (FourCC, pixelBytes: Int)? {
      // The first two have numbers of their own; all others those of DRM.
      let fourcc: FourCC =
        switch code {
        case 0: .argb8888
        case 1: .xrgb8888
        default: FourCC(rawValue: code)
        }
      return switch fourcc {
      case .argb8888, .xrgb8888: (.xrgb8888, 4)
      case .abgr8888, .xbgr8888: (.xbgr8888, 4)
      case .argb2101010, .xrgb2101010: (.xrgb2101010, 4)
      case .abgr2101010, .xbgr2101010: (.xbgr2101010, 4)
      case .rgb888: (.rgb888, 3)
      case .bgr888: (.bgr888, 3)
      default: nil
      }
    }
  }
#endif
