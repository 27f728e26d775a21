import FrameBus

/// Converts the raw sound of one stream, whose format may change, to stereo floats at 48,000 sample
/// frames a second.
public struct SoundConverter {
  private var format: AudioFormat?
  private var reader: SampleReader?
  private var resampler: Resampler?

  public init() {}

  /// Far more than any source sends. Converting a longer frame could take many times its memory.
  static let longestSeconds = 2

  /// Why sound cannot be converted.
  public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    case encoded(FourCC)
    case wrongRate(Int)
    case tooLong(sampleFrames: Int)

    public var description: String {
      switch self {
      case .encoded(let fourcc):
        "sound in “\(fourcc)” cannot be read; publish raw sound (“\(FourCC.pcm)”)"
      case .wrongRate(let rate):
        "sound of \(rate) Hz cannot be converted; publish \(Resampler.rates.lowerBound) to "
          + "\(Resampler.rates.upperBound) Hz"
      case .tooLong(let count):
        "a frame of \(count) samples is too long to play without delay; publish at most "
          + "\(SoundConverter.longestSeconds) seconds a frame"
      }
    }
  }

  /// - Returns: interleaved left and right samples. If the rate is not 48,000, the last samples are
  ///   returned by the next call, because the filter looks ahead. No delay is added.
  public mutating func convert(_ frame: borrowing FrameLease) throws(Refusal) -> [Float] {
    try convert(frame.bytes, of: frame.format)
  }

  package mutating func convert(
    _ bytes: RawSpan, of frameFormat: FrameFormat
  ) throws(Refusal) -> [Float] {
    guard frameFormat.fourcc == .pcm, let audio = frameFormat.audio else {
      throw .encoded(frameFormat.fourcc)
    }
    let count = audio.sampleFrameCount(inBytes: bytes.byteCount)
    guard count <= audio.sampleRate * Self.longestSeconds else {
      throw .tooLong(sampleFrames: count)
    }
    if audio != format { try begin(audio) }
    guard let reader else { return [] }
    let samples = reader.read(bytes)
    return resampler?.process(samples) ?? samples
  }

  /// Discards all state. Call it after a gap, so that earlier sound does not affect what follows.
  public mutating func restart() { format = nil }

  private mutating func begin(_ audio: AudioFormat) throws(Refusal) {
    guard Resampler.rates.contains(audio.sampleRate) else { throw .wrongRate(audio.sampleRate) }
    format = audio
    reader = SampleReader(audio)
    resampler =
      audio.sampleRate == SoundChunk.sampleRate ? nil : Resampler(from: audio.sampleRate)
  }
}
