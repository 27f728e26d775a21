// The module Sound: turns the sound of any stream into what encoders take, and raw samples into
// streams.
//
// It refuses to know a sound server, an encoder or a destination: samples come in and go out, and
// no call waits for anything.

/// Ten milliseconds of sound as every destination gets it: 480 sample frames of two channels, at
/// 48,000 a second.
public struct SoundChunk: Hashable, Sendable {
  public static let sampleRate = 48_000
  public static let channelCount = 2
  public static let sampleFrameCount = 480
  public static let durationNs: UInt64 = 10_000_000
  static let sampleCount = sampleFrameCount * channelCount

  /// From −1 to 1: left, right, left, right, and so on.
  public let samples: [Float]

  /// - Parameter samples: 480 of each channel.
  public init(_ samples: [Float]) {
    precondition(samples.count == Self.sampleCount, "\(samples.count) samples are no chunk")
    self.samples = samples
  }

  public static let silence = SoundChunk([Float](repeating: 0, count: sampleCount))

  /// Whether every sample is 0.
  public var isSilent: Bool { samples.allSatisfy { $0 == 0 } }
}
