#if Media
  import FrameBus
  import Upload

  /// The part of a frame that goes into the pipeline, and how it lies in memory.
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
      // GStreamer counts the bytes of a row in 32 bits with a sign.
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

    /// The frame without its last column or row if their number is odd: 4:2:0 video has even
    /// sides only. It costs nothing, since the strides stay and the extra bytes are not read.
    /// - Parameter limits: the encoder's.
    init(
      evenPartOf format: FrameFormat, within limits: PictureLimits
    ) throws(DestinationError) {
      try self.init(whole: format, within: limits)
      width &= ~1
      height &= ~1
    }

    /// The sides of the picture once it stands upright.
    func upright(_ orientation: Orientation) -> PixelRect {
      let whole = PixelRect(x: 0, y: 0, width: width, height: height)
      return orientation.upright(whole, width: width, height: height)
    }

    /// - Parameter rate: the same for the whole recording, since an encoder plans its bits by it.
    func caps(rate: FrameRate) -> String {
      "video/x-raw,format=\(formatName),width=\(width),height=\(height),"
        + "framerate=\(rate.numerator)/\(rate.denominator),pixel-aspect-ratio=1/1"
        + (colorimetry.map { ",colorimetry=\($0)" } ?? "")
    }
  }

  /// Smaller pictures than of 16 pixels a side are refused by the containers.
  extension PictureLimits {
    /// x264 takes no wider ones.
    static let h264 = PictureLimits(sides: 16...16_384)
    /// A key frame has 14 bits for each side (RFC 6386, section 9.1).
    static let vp8 = PictureLimits(sides: 16...16_383)
    /// videoconvert takes no wider ones.
    static let snapshot = PictureLimits(sides: 1...32_767)
  }

  extension FrameFormat {
    /// The highest rate that is believed.
    private static let maximumRate = 10_000

    /// The rate to plan with. One that GStreamer cannot say in 31 bits, or that no encoder keeps up
    /// with, is a publisher's error or worse: then frames come when they come.
    var plannedRate: FrameRate {
      let numbers = 0...Int(Int32.max)
      let isUsable =
        numbers.contains(frameRate.numerator) && numbers.contains(frameRate.denominator)
        && frameRate.numerator / frameRate.denominator <= Self.maximumRate
      return isUsable ? frameRate : .variable
    }

    /// How long a frame is shown when nobody says: one period of the rate, or of 30 a second.
    var assumedFrameNs: UInt64 {
      let (numerator, denominator) = (UInt64(frameRate.numerator), UInt64(frameRate.denominator))
      return numerator > 0 ? 1_000_000_000 * denominator / numerator : 1_000_000_000 / 30
    }
  }
#endif
