// The module Sound: converts the sound of any stream into the form that encoders take, and raw
// samples into streams.
//
// It refuses to know a sound server, an encoder or a destination: samples come in and go out, and
// no call blocks.

/// Ten milliseconds of sound in the form that every destination receives: 480 sample frames of two
/// channels, at 48,000 a second.
public struct SoundChunk: Hashable, Sendable {
  public static let sampleRate = 48_000
  public static let channelCount = 2
  public static let sampleFrameCount = 480
  public static let durationNs: UInt64 = 10_000_000
  static let sampleCount = sampleFrameCount * channelCount

  /// From −1 to 1, interleaved: left, right.
  public let samples: [Float]

  /// - Parameter samples: 480 samples of each channel, interleaved.
  public init(_ samples: [Float]) {
    precondition(samples.count == Self.sampleCount, "\(samples.count) samples are not a chunk")
    self.samples = samples
  }

  public static let silence = SoundChunk([Float](repeating: 0, count: sampleCount))

  /// Whether every sample is 0.
  public var isSilent: Bool { samples.allSatisfy { $0 == 0 } }
}
