#if Media
  import CGStreamer
  import CPipeWire
  import FrameBus
  import Platform
  import Upload

  /// A frame's visible part, upright, as a camera shows it.
  struct CameraPicture {
    private let visible: PixelRect
    private let degrees: UInt32
    let format: fb_camera_format

    init(_ lease: borrowing FrameLease) throws(DestinationError) {
      let format = lease.format
      guard let degrees = Self.degrees(lease.metadata.orientation),
        fb_i420_takes(format.fourcc.rawValue, degrees)
      else {
        throw .unusablePixelFormat(
          "\(format.fourcc), \(lease.metadata.orientation)",
          known: [
            "XR24", "AR24", "XB24", "AB24", "YUYV", "UYVY", "or, upright, YU12", "YU16", "NV12",
          ])
      }
      self.degrees = degrees
      visible = lease.metadata.visibleRect(of: format)
      let upright = lease.metadata.uprightBounds(of: format)
      self.format = fb_camera_format(
        width: UInt32(upright.width), height: UInt32(upright.height),
        rateNumerator: UInt32(format.frameRate.numerator),
        rateDenominator: UInt32(format.frameRate.denominator))
    }

    private var chromaWidth: Int { (Int(format.width) + 1) / 2 }
    private var chromaHeight: Int { (Int(format.height) + 1) / 2 }
    /// Of the picture in I420.
    var byteCount: Int {
      Int(format.width) * Int(format.height) + 2 * chromaWidth * chromaHeight
    }

    /// The planes, without gaps, in memory of `byteCount` bytes.
    @unsafe func planes(at start: UnsafeMutablePointer<UInt8>) -> fb_i420_picture {
      var planes = fb_i420_picture()
      let luma = Int(format.width) * Int(format.height)
      // SAFETY: the planes end with the memory.
      unsafe planes.plane.0 = start
      unsafe planes.plane.1 = start + luma
      unsafe planes.plane.2 = start + luma + chromaWidth * chromaHeight
      planes.stride = (format.width, UInt32(chromaWidth), UInt32(chromaWidth))
      (planes.width, planes.height) = (format.width, format.height)
      return planes
    }

    /// Clockwise; nil for a mirrored picture.
    private static func degrees(_ orientation: Orientation) -> UInt32? {
      switch orientation {
      case .up: 0
      case .right: 90
      case .down: 180
      case .left: 270
      case .upMirrored, .downMirrored, .leftMirrored, .rightMirrored: nil
      }
    }

    /// - Returns: false for rows that libyuv does not take.
    @unsafe func convert(_ lease: borrowing FrameLease, to target: fb_i420_picture) -> Bool {
      let planes = lease.format.planes
      return unsafe lease.withUnsafeBytes { bytes in
        // SAFETY: a lease's planes lie inside its bytes, which was checked when it was received.
        guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
          return false
        }
        var source = fb_i420_source()
        source.fourcc = lease.format.fourcc.rawValue
        unsafe source.plane.0 = start + planes[0].offset
        source.stride.0 = UInt32(planes[0].stride)
        if planes.count > 1 {
          unsafe source.plane.1 = start + planes[1].offset
          source.stride.1 = UInt32(planes[1].stride)
        }
        if planes.count > 2 {
          unsafe source.plane.2 = start + planes[2].offset
          source.stride.2 = UInt32(planes[2].stride)
        }
        source.x = UInt32(visible.x)
        source.y = UInt32(visible.y)
        source.width = UInt32(visible.width)
        source.height = UInt32(visible.height)
        source.degrees = degrees
        let into = unsafe [target.plane.0, target.plane.1, target.plane.2]
        let strides = [target.stride.0, target.stride.1, target.stride.2]
        return unsafe fb_i420_convert(&source, into, strides)
      }
    }
  }
#endif
