import Platform

/// Turns sound on and off within one chunk, with a ramp that prevents an audible click.
public struct SoundFader: Hashable, Sendable {
  /// Five milliseconds.
  private static let rampFrames = SoundChunk.sampleRate / 200
  /// A rising half cosine.
  private static let ramp = (0..<rampFrames).map { index in
    Float(0.5 - 0.5 * cosine(.pi * (Double(index) + 0.5) / Double(rampFrames)))
  }

  /// Whether the previous chunk was on; nil before the first, which needs no ramp.
  private var wasOn: Bool?

  public init() {}

  /// Whether there is nothing left to fade out.
  public var isSilent: Bool { wasOn != true }

  /// - Returns: the chunk with any ramp applied; nil while sound is off.
  public mutating func fade(_ chunk: SoundChunk, isOn: Bool) -> SoundChunk? {
    let wasOn = wasOn ?? isOn
    self.wasOn = isOn
    if wasOn == isOn { return isOn ? chunk : nil }
    var samples = chunk.samples
    for frame in 0..<SoundChunk.sampleFrameCount {
      let loudness = frame < Self.rampFrames ? Self.ramp[frame] : 1
      samples[2 * frame] *= isOn ? loudness : 1 - loudness
      samples[2 * frame + 1] *= isOn ? loudness : 1 - loudness
    }
    return SoundChunk(samples)
  }
}
