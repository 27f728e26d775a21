#if Media
  import CGStreamer
  import CGStreamerSystem
  import FrameBus

  /// The pixel formats that a pipeline may end in, with their FourCC.
  enum PipelineFormat {
    private static let known: [(name: String, format: GstVideoFormat, fourcc: FourCC)] = [
      ("I420", GST_VIDEO_FORMAT_I420, .yuv420),
      ("NV12", GST_VIDEO_FORMAT_NV12, .nv12),
      ("Y42B", GST_VIDEO_FORMAT_Y42B, .yuv422),
      ("Y444", GST_VIDEO_FORMAT_Y444, .yuv444),
      ("YUY2", GST_VIDEO_FORMAT_YUY2, .yuyv),
      ("UYVY", GST_VIDEO_FORMAT_UYVY, .uyvy),
      ("GRAY8", GST_VIDEO_FORMAT_GRAY8, .r8),
      ("BGRx", GST_VIDEO_FORMAT_BGRx, .xrgb8888),
      ("BGRA", GST_VIDEO_FORMAT_BGRA, .argb8888),
      ("RGBx", GST_VIDEO_FORMAT_RGBx, .xbgr8888),
    ]

    /// The formats that the pipeline converts to, if its frames have another one.
    static var caps: String {
      "video/x-raw,format={" + known.map(\.name).joined(separator: ",") + "}"
    }

    /// The frame format of a layout.
    static func format(
      of layout: fb_sink_layout, rate: FrameRate?
    ) throws(PipelineError) -> FrameFormat {
      guard let fourcc = known.first(where: { $0.format == layout.format })?.fourcc else {
        throw .unsupportedFormat("the pipeline ends in a pixel format that cannot be published")
      }
      let offsets = [layout.offset.0, layout.offset.1, layout.offset.2, layout.offset.3]
      let strides = [layout.stride.0, layout.stride.1, layout.stride.2, layout.stride.3]
      let planes = (0..<Int(layout.planeCount)).map {
        Plane(offset: offsets[$0], stride: Int(strides[$0]))
      }
      let steady = FrameRate(Int(layout.rateNumerator), max(1, Int(layout.rateDenominator)))
      do {
        return try FrameFormat(
          kind: .video, fourcc: fourcc, width: Int(layout.width), height: Int(layout.height),
          planes: planes, byteCount: layout.byteCount,
          frameRate: rate ?? (steady.numerator > 0 ? steady : .variable),
          colorSpace: colorSpace(layout.colorMatrix))
      } catch { throw .publishing(.format(error)) }
    }

    private static func colorSpace(_ matrix: UInt32) -> ColorSpace {
      switch matrix {
      case 1: .bt601
      case 2: .bt709
      case 3: .sRGB
      default: .unspecified
      }
    }
  }
#endif
