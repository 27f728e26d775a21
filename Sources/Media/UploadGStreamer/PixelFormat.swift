#if Media
  import FrameBus

  /// GStreamer's names of a stream's pixel formats.
  enum PixelFormat {
    private static let names: [(fourcc: FourCC, name: String)] = [
      (.xrgb8888, "BGRx"), (.argb8888, "BGRA"), (.xbgr8888, "RGBx"), (.abgr8888, "RGBA"),
      (.rgb888, "BGR"), (.bgr888, "RGB"),
      (.yuv420, "I420"), (.nv12, "NV12"), (.yuyv, "YUY2"), (.uyvy, "UYVY"), (.r8, "GRAY8"),
      (.yuv422, "Y42B"), (.yuv444, "Y444"),
    ]

    static func name(of fourcc: FourCC) -> String? {
      names.first { $0.fourcc == fourcc }?.name
    }

    static var known: [String] { names.map { "\($0.fourcc) (\($0.name))" } }
  }

  extension ColorSpace {
    /// GStreamer's name of the color space; nil leaves the choice to GStreamer.
    var colorimetry: String? {
      switch self {
      case .bt601: "bt601"
      case .bt709: "bt709"
      case .sRGB: "sRGB"
      default: nil
      }
    }
  }
#endif
