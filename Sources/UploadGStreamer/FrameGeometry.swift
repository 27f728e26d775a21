#if Media
  import FrameBus
  import Upload

  /// The part of a frame that goes into the pipeline, and how it lies in memory.
  struct FrameGeometry: Equatable {
    /// Smaller pictures are refused by the containers.
    static let minimumSide = 16

    var formatName: String
    var width: Int
    var height: Int
    var planes: [Plane]
    var byteCount: Int
    private var colorimetry: String?

    /// The whole frame.
    init(whole format: FrameFormat) throws(DestinationError) {
      guard format.kind == .video, let name = PixelFormat.name(of: format.fourcc) else {
        throw .unusablePixelFormat(format.fourcc.description, known: PixelFormat.known)
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
    init(evenPartOf format: FrameFormat) throws(DestinationError) {
      try self.init(whole: format)
      width &= ~1
      height &= ~1
      guard width >= Self.minimumSide, height >= Self.minimumSide else {
        throw .unusableSize(width: format.width, height: format.height)
      }
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

  extension FrameFormat {
    /// How long a frame is shown when nobody says: one period of the rate, or of 30 a second.
    var assumedFrameNs: UInt64 {
      let (numerator, denominator) = (UInt64(frameRate.numerator), UInt64(frameRate.denominator))
      return numerator > 0 ? 1_000_000_000 * denominator / numerator : 1_000_000_000 / 30
    }
  }
#endif
