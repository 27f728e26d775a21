#if Media
  import FrameBus
  import Upload

  /// An encoder as a chain of elements. Destinations depend only on this protocol; a new encoder
  /// needs one conformance and one line in `VideoEncoders`.
  protocol VideoEncoder: Sendable {
    /// The name for `--encoder`.
    var name: String { get }
    /// GStreamer's name of the pixel format that it encodes.
    var inputFormatName: String { get }
    /// The picture sizes that it supports.
    var limits: PictureLimits { get }
    /// The element that encodes.
    var factory: String { get }
    /// The property that changes the bitrate, also while it runs.
    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property
    /// The properties with which it makes key frames on request only.
    var keyFramesOnRequest: [ElementDescription.Property] { get }
    /// The elements, from raw video of that format to encoded video for containers.
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
