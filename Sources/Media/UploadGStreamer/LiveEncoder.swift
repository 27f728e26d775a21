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
    /// RTP's name of the codec.
    var codec: String { get }
    /// The caps of its output, which is the payloader's input.
    var unitCaps: String { get }
    /// The elements from raw video of that format to encoded video.
    func encoding(width: Int, height: Int, rate: FrameRate) -> [ElementDescription]
    /// The payloader: the element that makes RTP packets.
    var packer: ElementDescription { get }
    /// The property that changes the bitrate.
    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property
  }

  extension LiveEncoder {
    /// The elements from raw video to RTP packets.
    func elements(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      encoding(width: width, height: height, rate: rate) + packing
    }

    /// The elements from encoded video to RTP packets.
    var packing: [ElementDescription] {
      [packer, .onlyCaps("application/x-rtp,media=video,encoding-name=\(codec),payload=96")]
    }
  }

  /// The live encoders of this build.
  enum LiveEncoders {
    static let known = [LiveH264.name, LiveVP8.name]

    static func make(
      _ settings: EncoderSettings, profile: H264Profile
    ) throws(DestinationError) -> any LiveEncoder {
      switch settings.name ?? LiveH264.name {
      case LiveH264.name: return try LiveH264(settings, profile: profile)
      case LiveVP8.name: return try LiveVP8(settings)
      case let other: throw .unknownEncoder(other, known: known)
      }
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

  /// The interval of unrequested key frames. They serve receivers that cannot request one, such as
  /// a recorder behind the peer.
  private let keyFrameSeconds = 4
  /// The frame rate to plan with if the stream's is unknown.
  private let assumedRate = 30

  extension FrameRate {
    fileprivate var keyFrameInterval: Int {
      let rate = numerator > 0 ? max(1, Int(numerator) / max(1, Int(denominator))) : assumedRate
      return rate * keyFrameSeconds
    }
  }

  /// H.264 by x264, in packetization mode 1 (RFC 6184).
  struct LiveH264: LiveEncoder {
    static let name = X264Encoder.name
    let factory = "x264enc"
    let inputFormatName = "I420"
    let limits = PictureLimits.h264
    let codec = "H264"
    let unitCaps = "video/x-h264,stream-format=byte-stream,alignment=au"

    private let settings: EncoderSettings
    private let preset: String
    private let profile: H264Profile

    init(_ settings: EncoderSettings, profile: H264Profile) throws(DestinationError) {
      preset = settings.preset ?? "ultrafast"
      guard X264Encoder.presets.contains(preset) else {
        throw .unknownPreset(preset, encoder: Self.name, known: X264Encoder.presets)
      }
      self.settings = settings
      self.profile = profile
    }

    func encoding(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      [
        ElementDescription(
          factory: factory, package: "gstreamer1.0-plugins-ugly",
          properties: [
            .init("tune", "zerolatency"), .init("speed-preset", preset),
            bitrate(settings.bitsPerSecond(width: width, height: height)),
            .init("key-int-max", String(rate.keyFrameInterval)),
            // A full buffer of bits, by default 600 ms, delays a lower bitrate by that much.
            .init("vbv-buf-capacity", "200"),
          ]),
        .onlyCaps("video/x-h264,profile=\(profile.capsName)"),
      ]
    }

    var packer: ElementDescription {
      ElementDescription(
        factory: "rtph264pay", package: "gstreamer1.0-plugins-good",
        // Parameter sets precede each key frame, so that a peer that lost the first can begin.
        properties: [.init("config-interval", "-1"), .init("aggregate-mode", "zero-latency")])
    }

    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property {
      .init("bitrate", String(max(1, bitsPerSecond / 1000)))
    }
  }

  /// VP8 by libvpx (RFC 7741).
  struct LiveVP8: LiveEncoder {
    static let name = "vp8"
    let factory = "vp8enc"
    let inputFormatName = "I420"
    let limits = PictureLimits.vp8
    let codec = "VP8"
    let unitCaps = "video/x-vp8"

    private let settings: EncoderSettings

    init(_ settings: EncoderSettings) throws(DestinationError) {
      if let preset = settings.preset {
        throw .unknownPreset(preset, encoder: Self.name, known: [])
      }
      self.settings = settings
    }

    func encoding(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      [
        ElementDescription(
          factory: factory, package: "gstreamer1.0-plugins-good",
          properties: [
            .init("deadline", "1"), .init("cpu-used", "16"), .init("threads", "2"),
            .init("end-usage", "cbr"), .init("error-resilient", "default"),
            .init("lag-in-frames", "0"),
            // Milliseconds, as in browsers. The default of 6 s follows a lower bitrate slowly.
            .init("buffer-size", "1000"), .init("buffer-initial-size", "500"),
            .init("buffer-optimal-size", "600"),
            bitrate(settings.bitsPerSecond(width: width, height: height)),
            .init("keyframe-max-dist", String(rate.keyFrameInterval)),
          ])
      ]
    }

    var packer: ElementDescription {
      ElementDescription(
        factory: "rtpvp8pay", package: "gstreamer1.0-plugins-good",
        properties: [.init("picture-id-mode", "15-bit")])
    }

    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property {
      .init("target-bitrate", String(bitsPerSecond))
    }
  }
#endif
