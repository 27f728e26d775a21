#if Media
  import FrameBus
  import Upload

  /// The part of a frame that goes into the pipeline, and its memory layout.
  struct FrameGeometry: Equatable {
    var formatName: String
    var width: Int
    var height: Int
    var planes: [Plane]
    var byteCount: Int
    private var colorimetry: String?

    /// The whole frame.
    init(
      whole format: FrameFormat, within limits: PictureLimits
    ) throws(DestinationError) {
      guard format.kind == .video, let name = PixelFormat.name(of: format.fourcc) else {
        throw .unusablePixelFormat(format.fourcc.description, known: PixelFormat.known)
      }
      guard limits.contain(width: format.width, height: format.height) else {
        throw .unusableSize(width: format.width, height: format.height, known: "\(limits)")
      }
      // GStreamer stores the stride as a signed 32-bit number.
      guard format.planes.allSatisfy({ $0.stride <= Int(Int32.max) }) else {
        throw .unusableRows(format.planes.map(\.stride).max() ?? 0)
      }
      formatName = name
      width = format.width
      height = format.height
      planes = format.planes
      byteCount = format.byteCount
      colorimetry = format.colorSpace.colorimetry
    }

    /// The frame without its last column or row if their number is odd, because 4:2:0 video needs
    /// even sides. This copies nothing: the strides stay, and the extra bytes are not read.
    /// - Parameter limits: the limits of the encoder.
    init(
      evenPartOf format: FrameFormat, within limits: PictureLimits
    ) throws(DestinationError) {
      try self.init(whole: format, within: limits)
      width &= ~1
      height &= ~1
    }

    /// The size of the picture after it is turned upright.
    func upright(_ orientation: Orientation) -> PixelRect {
      let whole = PixelRect(x: 0, y: 0, width: width, height: height)
      return orientation.upright(whole, width: width, height: height)
    }

    /// - Parameter rate: constant for a recording, since an encoder plans its bitrate with it.
    func caps(rate: FrameRate) -> String {
      "video/x-raw,format=\(formatName),width=\(width),height=\(height),"
        + "framerate=\(rate.numerator)/\(rate.denominator),pixel-aspect-ratio=1/1"
        + (colorimetry.map { ",colorimetry=\($0)" } ?? "")
    }
  }

  /// Containers refuse sides of less than 16 pixels.
  extension PictureLimits {
    /// x264 supports no larger sides.
    static let h264 = PictureLimits(sides: 16...16_384)
    /// A key frame has 14 bits for each side (RFC 6386, section 9.1).
    static let vp8 = PictureLimits(sides: 16...16_383)
    /// videoconvert supports no larger sides.
    static let snapshot = PictureLimits(sides: 1...32_767)
  }

  extension FrameFormat {
    /// The highest plausible rate.
    private static let maximumRate = 10_000

    /// The rate to plan with. A rate that does not fit GStreamer's 31 bits, or exceeds any encoder,
    /// is a publisher's error or an attack, and is treated as variable.
    var plannedRate: FrameRate {
      let numbers = 0...Int(Int32.max)
      let isUsable =
        numbers.contains(frameRate.numerator) && numbers.contains(frameRate.denominator)
        && frameRate.numerator / frameRate.denominator <= Self.maximumRate
      return isUsable ? frameRate : .variable
    }

    /// The duration of a frame whose metadata have none: one period of the rate, or 1/30 s.
    var assumedFrameNs: UInt64 {
      let (numerator, denominator) = (UInt64(frameRate.numerator), UInt64(frameRate.denominator))
      return numerator > 0 ? 1_000_000_000 * denominator / numerator : 1_000_000_000 / 30
    }
  }
#endif
