#if Media
  import FrameBus
  import Upload

  /// H.264 by x264, without delay: each frame is encoded before the next arrives.
  struct X264Encoder: VideoEncoder {
    static let name = "x264"
    static let presets = [
      "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower",
      "veryslow",
    ]
    /// The longest wait for a key frame of a player that joins or seeks.
    private static let keyFrameSeconds = 2
    /// The frame rate with which x264 plans its bitrate if the stream's is unknown.
    private static let assumedRate = 30

    private let settings: EncoderSettings
    private let preset: String

    init(_ settings: EncoderSettings) throws(DestinationError) {
      preset = settings.preset ?? "ultrafast"
      guard Self.presets.contains(preset) else {
        throw .unknownPreset(preset, encoder: Self.name, known: Self.presets)
      }
      self.settings = settings
    }

    var name: String { Self.name }
    var factory: String { "x264enc" }
    var inputFormatName: String { "I420" }
    var limits: PictureLimits { .h264 }

    func elements(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      let framesPerSecond =
        rate.numerator > 0
        ? max(1, rate.numerator / max(1, rate.denominator)) : Self.assumedRate
      return [
        ElementDescription(
          factory: factory, package: "gstreamer1.0-plugins-ugly",
          properties: [
            .init("tune", "zerolatency"), .init("speed-preset", preset),
            bitrate(settings.bitsPerSecond(width: width, height: height)),
            .init("key-int-max", String(framesPerSecond * Self.keyFrameSeconds)),
          ]),
        .onlyCaps("video/x-h264,stream-format=avc,alignment=au"),
      ]
    }

    var keyFramesOnRequest: [ElementDescription.Property] { Self.keyFramesOnRequest }
    /// X264_KEYINT_MAX_INFINITE (x264.h).
    static let keyFramesOnRequest: [ElementDescription.Property] = [
      .init("key-int-max", String(1 << 30)), .init("option-string", "scenecut=0"),
    ]

    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property {
      .init("bitrate", String(max(1, bitsPerSecond / 1000)))
    }
  }
#endif
