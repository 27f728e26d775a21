import Platform

/// A test tone, exact to the sample: sample n is `level * sin(2π · hertz · n / 48000)`.
public struct Tone: Hashable, Sendable {
  /// When the tone sounds.
  public enum Rhythm: Hashable, Sendable {
    case steady
    /// For 100 ms at the start of each second of the clock that stamps its chunks.
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

  /// The chunk at `ptsNs`, a multiple of 10 ms. Both channels are equal.
  public func chunk(atNs ptsNs: UInt64) -> SoundChunk {
    if rhythm == .everySecond, ptsNs % 1_000_000_000 >= Self.beepNs { return .silence }
    // Counted within one second, at which every whole frequency starts a new period: a large sample
    // number would reduce the precision of the angle.
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
