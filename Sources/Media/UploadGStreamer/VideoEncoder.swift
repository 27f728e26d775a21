#if Media
  import FrameBus
  import Upload

  /// An encoder as a chain of elements. Destinations depend only on this protocol; `EncoderChoice`
  /// makes the chain.
  protocol VideoEncoder: Sendable {
    var codec: VideoCodec { get }
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

  /// The encoders for containers.
  enum VideoEncoders {
    /// - Parameter codecs: those that the container takes, the preferred one first.
    static func make(
      _ settings: EncoderSettings, codecs: [VideoCodec]
    ) throws(DestinationError) -> any VideoEncoder {
      try EncoderChoice(settings, codecs: codecs, use: .stored)
    }
  }
#endif
