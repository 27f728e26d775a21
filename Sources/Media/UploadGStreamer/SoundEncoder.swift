#if Media
  import Upload

  /// A sound encoder, as a chain of elements for raw stereo at 48,000 sample frames a second.
  enum SoundEncoder: String, CaseIterable {
    case opus, aac

    private static let bitsPerSecond = 128_000

    /// The delay of the sound against its timestamps that the container does not record: the 1024
    /// sample frames of priming with which AAC's overlapping windows begin.
    var unreportedDelayNs: UInt64 { self == .aac ? 1024 * 1_000_000_000 / 48_000 : 0 }

    var unitCaps: String { self == .aac ? "audio/mpeg" : "audio/x-opus" }

    var elements: [ElementDescription] { elements(opusMilliseconds: 10) }
    /// For several destinations: not every receiver of WebRTC accepts packets under 20 ms.
    var sharedElements: [ElementDescription] { elements(opusMilliseconds: 20) }

    private func elements(opusMilliseconds: Int) -> [ElementDescription] {
      let convert = ElementDescription(
        factory: "audioconvert", package: "gstreamer1.0-plugins-base")
      switch self {
      case .opus:
        // The usual settings for live sound: 10 ms of delay.
        return [
          convert,
          ElementDescription(
            factory: "opusenc", package: "gstreamer1.0-plugins-base",
            properties: [
              .init("audio-type", "restricted-lowdelay"),
              .init("frame-size", "\(opusMilliseconds)"),
              .init("bitrate", String(Self.bitsPerSecond)),
            ]),
        ]
      case .aac:
        return [
          convert,
          ElementDescription(
            factory: "avenc_aac", package: "gstreamer1.0-libav",
            // The cheaper search, which ffmpeg recommends above 64 kbit/s: half the time for music.
            properties: [
              .init("bitrate", String(Self.bitsPerSecond)), .init("aac-coder", "fast"),
            ]),
          ElementDescription(factory: "aacparse", package: "gstreamer1.0-plugins-good"),
        ]
      }
    }
  }
#endif
