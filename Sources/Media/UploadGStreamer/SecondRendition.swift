#if Media
  import FrameBus
  import Platform
  import Upload

  /// The wall clock's time of time stamps, from the times of capture.
  struct CaptureClock {
    /// A picture that is older stands for the present one.
    private static let mostAgeNs: UInt64 = 1_000_000_000

    private var newestNs: UInt64?
    /// Added to a time stamp, it gives the time of the wall clock.
    private(set) var wallOffsetNs: UInt64 = 0

    /// - Parameter capturedAtNs: by CLOCK_MONOTONIC; that of the picture before if it is repeated.
    mutating func note(_ capturedAtNs: UInt64, ptsNs: UInt64) {
      guard capturedAtNs != newestNs else { return }
      newestNs = capturedAtNs
      let ageNs = monotonicNowNs() &- capturedAtNs
      wallOffsetNs = wallNowNs() &- (ageNs <= Self.mostAgeNs ? ageNs : 0) &- ptsNs
    }
  }

  extension EncoderSettings {
    /// Those of a smaller picture: a bitrate that the user chose shrinks with the number of pixels.
    func reduced(from size: PixelRect, to small: PixelRect) -> EncoderSettings {
      var settings = self
      let share =
        Double(small.width * small.height) / Double(max(1, size.width * size.height))
      settings.bitsPerSecond = bitsPerSecond.map { max(100_000, Int(Double($0) * share)) }
      return settings
    }
  }

  extension ElementDescription {
    /// From here, a second encoder has the same pictures.
    static let fork = ElementDescription(factory: "tee", package: "libgstreamer1.0-0")

    /// Pictures behind a fork, in a smaller size.
    static func reduced(to formatName: String, width: Int, height: Int) -> [ElementDescription] {
      [
        // Its encoder has a thread of its own.
        ElementDescription(
          factory: "queue", package: "libgstreamer1.0-0",
          properties: [
            .init("max-size-buffers", "2"), .init("max-size-bytes", "0"),
            .init("max-size-time", "0"),
          ]),
        ElementDescription(factory: "videoscale", package: "gstreamer1.0-plugins-base"),
        .onlyCaps(
          "video/x-raw,format=\(formatName),width=\(width),height=\(height),"
            + "pixel-aspect-ratio=1/1"),
      ]
    }
  }
#endif
