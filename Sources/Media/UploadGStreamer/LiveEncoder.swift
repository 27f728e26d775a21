#if Media
  import FrameBus
  import Upload

  /// An encoder for live peers: no frame waits for another, key frames are made on request, and the
  /// bitrate changes at run time.
  protocol LiveEncoder: Sendable {
    /// The element that encodes.
    var factory: String { get }
    /// GStreamer's name of the pixel format that it encodes.
    var inputFormatName: String { get }
    /// The picture sizes that it supports.
    var limits: PictureLimits { get }
    var codec: VideoCodec { get }
    /// The caps of its output, which is the payloader's input.
    var unitCaps: String { get }
    /// The elements from raw video of that format to encoded video.
    func encoding(width: Int, height: Int, rate: FrameRate) -> [ElementDescription]
    /// The payloader: the element that makes RTP packets.
    var packer: ElementDescription { get }
    /// The property that changes the bitrate.
    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property
    /// The properties with which it makes key frames on request only.
    var keyFramesOnRequest: [ElementDescription.Property] { get }
    /// The elements from what it encodes to RTP packets.
    var packing: [ElementDescription] { get }
  }

  extension LiveEncoder {
    /// The elements from raw video to RTP packets.
    func elements(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      encoding(width: width, height: height, rate: rate) + packing
    }

    var packing: [ElementDescription] {
      let caps = "application/x-rtp,media=video,encoding-name=\(codec.rtpName),payload=96"
      return [packer, .onlyCaps(caps)]
    }
  }

  /// The encoders for live peers.
  enum LiveEncoders {
    /// - Parameters:
    ///   - codecs: those to choose from, the preferred one first.
    ///   - hasLayers: whether pictures are encoded in three sizes.
    static func make(
      _ settings: EncoderSettings, profile: H264Profile,
      codecs: [VideoCodec] = VideoCodec.allCases, hasLayers: Bool = false
    ) throws(DestinationError) -> any LiveEncoder {
      if hasLayers { return try SimulcastEncoder(settings, profile: profile, codecs: codecs) }
      return try EncoderChoice(settings, codecs: codecs, use: .live(profile))
    }
  }

  /// An H.264 profile: the features that a decoder must support.
  public enum H264Profile: String, CaseIterable, Sendable {
    /// Every browser decodes it.
    case baseline
    /// Fewer bits for the same picture.
    case high

    var capsName: String { self == .baseline ? "constrained-baseline" : "high" }
  }
#endif
