#if Media
  import FrameBus
  import Upload

  /// An encoder as a chain of elements. Destinations know only this, so that a further encoder
  /// joins by one conformance and one line in `VideoEncoders`.
  protocol VideoEncoder: Sendable {
    /// What `--encoder` calls it.
    var name: String { get }
    /// What it must be fed: GStreamer's name of a pixel format.
    var inputFormatName: String { get }
    /// The pictures that it takes.
    var limits: PictureLimits { get }
    /// The elements, from raw video of that format to encoded video as containers want it.
    func elements(width: Int, height: Int, rate: FrameRate) -> [ElementDescription]
  }

  /// The encoders of this build.
  enum VideoEncoders {
    static let known = [X264Encoder.name]

    static func make(_ settings: EncoderSettings) throws(DestinationError) -> any VideoEncoder {
      switch settings.name ?? X264Encoder.name {
      case X264Encoder.name: return try X264Encoder(settings)
      case let other: throw .unknownEncoder(other, known: known)
      }
    }
  }
#endif
