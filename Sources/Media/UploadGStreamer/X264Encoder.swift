#if Media
  import FrameBus
  import Upload

  /// H.264 by x264, each frame encoded and out before the next comes in.
  struct X264Encoder: VideoEncoder {
    static let name = "x264"
    static let presets = [
      "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower",
      "veryslow",
    ]
    /// A player that joins, or seeks, waits for a key frame at most so long.
    private static let keyFrameSeconds = 2
    /// What x264 plans its bits by when the stream does not say how many frames it has a second.
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
    var inputFormatName: String { "I420" }
    var limits: PictureLimits { .h264 }

    func elements(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      let kilobits = settings.bitsPerSecond(width: width, height: height) / 1000
      let framesPerSecond =
        rate.numerator > 0
        ? max(1, rate.numerator / max(1, rate.denominator)) : Self.assumedRate
      return [
        ElementDescription(
          factory: "x264enc", package: "gstreamer1.0-plugins-ugly",
          properties: [
            .init("tune", "zerolatency"), .init("speed-preset", preset),
            .init("bitrate", String(max(1, kilobits))),
            .init("key-int-max", String(framesPerSecond * Self.keyFrameSeconds)),
          ]),
        .onlyCaps("video/x-h264,stream-format=avc,alignment=au"),
      ]
    }
  }
#endif
