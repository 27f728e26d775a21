import Platform

/// A test tone, exact to the sample: sample n is `level * sin(2π · hertz · n / 48000)`.
public struct Tone: Hashable, Sendable {
  /// When it is heard.
  public enum Rhythm: Hashable, Sendable {
    case steady
    /// For 100 ms from the beginning of each second of the clock that its chunks are stamped by.
    case everySecond
  }

  public static let frequencies = 1.0...20_000.0
  static let level: Float = 0.5
  private static let beepNs: UInt64 = 100_000_000

  public let hertz: Double
  public let rhythm: Rhythm

  public init(hertz: Double, rhythm: Rhythm = .steady) {
    self.hertz = hertz
    self.rhythm = rhythm
  }

  /// The chunk that is heard at that moment, a multiple of 10 ms. On either side it is the same.
  public func chunk(atNs ptsNs: UInt64) -> SoundChunk {
    if rhythm == .everySecond, ptsNs % 1_000_000_000 >= Self.beepNs { return .silence }
    // Counted within one second, where every whole number of hertz begins anew: a large number
    // would cost the angle its precision.
    let first = Double(ptsNs % 1_000_000_000 / SoundChunk.durationNs) * 480
    let second = Double(ptsNs / 1_000_000_000).truncatingRemainder(dividingBy: 86_400)
    let turn = (hertz * second).truncatingRemainder(dividingBy: 1)
    return SoundChunk(
      (0..<SoundChunk.sampleFrameCount).flatMap { index in
        let angle = 2 * .pi * (turn + hertz * (first + Double(index)) / 48_000)
        let value = Self.level * Float(sine(angle))
        return [value, value]
      })
  }
}
