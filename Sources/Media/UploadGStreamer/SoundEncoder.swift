#if Media
  import Upload

  /// An encoder of sound, as a chain of elements from raw stereo at 48,000 sample frames a second.
  enum SoundEncoder: String, CaseIterable {
    case opus, aac

    private static let bitsPerSecond = 128_000

    /// How much later than its time stamp says a sound is heard, where nothing in the container
    /// tells players: 1024 sample frames that AAC's overlapping windows begin with.
    var unsaidDelayNs: UInt64 { self == .aac ? 1024 * 1_000_000_000 / 48_000 : 0 }

    var elements: [ElementDescription] {
      let convert = ElementDescription(
        factory: "audioconvert", package: "gstreamer1.0-plugins-base")
      switch self {
      case .opus:
        // As live encoders are set: what comes in is out 10 ms later.
        return [
          convert,
          ElementDescription(
            factory: "opusenc", package: "gstreamer1.0-plugins-base",
            properties: [
              .init("audio-type", "restricted-lowdelay"), .init("frame-size", "10"),
              .init("bitrate", String(Self.bitsPerSecond)),
            ]),
        ]
      case .aac:
        return [
          convert,
          ElementDescription(
            factory: "avenc_aac", package: "gstreamer1.0-libav",
            properties: [.init("bitrate", String(Self.bitsPerSecond))]),
          ElementDescription(factory: "aacparse", package: "gstreamer1.0-plugins-good"),
        ]
      }
    }
  }
#endif
