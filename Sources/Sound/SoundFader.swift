import Platform

/// Turns sound on and off within one chunk, by a ramp that nobody hears as a click.
public struct SoundFader: Hashable, Sendable {
  /// Five milliseconds.
  private static let rampFrames = SoundChunk.sampleRate / 200
  /// From silent to loud, as half a cosine.
  private static let ramp = (0..<rampFrames).map { index in
    Float(0.5 - 0.5 * cosine(.pi * (Double(index) + 0.5) / Double(rampFrames)))
  }

  /// Whether the chunk before was heard; nil before the first, which needs no ramp.
  private var wasOn: Bool?

  public init() {}

  /// Whether nothing is left to fade out.
  public var isSilent: Bool { wasOn != true }

  /// - Returns: the chunk as it is to be heard; nil while it is off.
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
