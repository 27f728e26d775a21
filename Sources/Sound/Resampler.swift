import Platform

/// Stereo sound of any rate to 48,000 sample frames a second.
///
/// Each new sample is the sum of those around its moment, weighted by a sinc function under a
/// Blackman window, whose cutoff is the lower of the two rates. Where the input's first sample lies
/// in time, there lies the output's: the filter looks ahead instead of delaying.
struct Resampler {
  /// Samples on each side at the cutoff rate: the stop band is 74 dB down, beyond 1.1 × cutoff.
  private static let reach = 24
  /// Moments between two samples for which weights are kept; others lie between two of these.
  private static let phases = 256
  static let rates = 4_000...768_000

  private let inputRate: Int
  /// Samples on each side that are weighted.
  private let half: Int
  /// For each phase, the weights of `2 * half` samples.
  private let weights: [Float]
  /// Input not yet passed by: pairs, the first of which is `half` before the next output.
  private var pending: [Float]
  /// How far the next output lies behind an input sample, in parts of 48,000.
  private var fraction = 0

  /// - Parameter inputRate: one of `rates`.
  init(from inputRate: Int) {
    precondition(Self.rates.contains(inputRate), "\(inputRate) is no rate in \(Self.rates)")
    self.inputRate = inputRate
    let cutoff = min(1, Double(SoundChunk.sampleRate) / Double(inputRate))
    half = Int((Double(Self.reach) / cutoff).rounded(.up))
    weights = Self.weights(half: half, cutoff: cutoff)
    // What was before the first sample is silence, up to the sample itself.
    pending = [Float](repeating: 0, count: 2 * (half - 1))
  }

  /// Takes sample frames in, and gives those out that all neighbours are known of.
  mutating func process(_ input: [Float]) -> [Float] {
    if inputRate == SoundChunk.sampleRate { return input }
    pending += input
    var output: [Float] = []
    var first = 0
    while (first + 2 * half) * 2 <= pending.count {
      appendSample(to: &output, from: first)
      fraction += inputRate
      first += fraction / SoundChunk.sampleRate
      fraction %= SoundChunk.sampleRate
    }
    pending.removeFirst(min(pending.count, first * 2))
    return output
  }

  /// What is left when nothing follows.
  mutating func finish() -> [Float] {
    if inputRate == SoundChunk.sampleRate { return [] }
    return process([Float](repeating: 0, count: 2 * half))
  }

  private func appendSample(to output: inout [Float], from first: Int) {
    let place = Double(fraction) / Double(SoundChunk.sampleRate) * Double(Self.phases)
    let phase = Int(place)
    let share = Float(place - Double(phase))
    let (before, after) = (phase * 2 * half, (phase + 1) * 2 * half)
    var (left, right): (Float, Float) = (0, 0)
    for tap in 0..<(2 * half) {
      let weight = weights[before + tap] * (1 - share) + weights[after + tap] * share
      left += pending[(first + tap) * 2] * weight
      right += pending[(first + tap) * 2 + 1] * weight
    }
    output.append(min(max(left, -1), 1))
    output.append(min(max(right, -1), 1))
  }

  /// The weights of each phase, which sum up to 1: silence and a constant stay what they are.
  private static func weights(half: Int, cutoff: Double) -> [Float] {
    var result: [Float] = []
    result.reserveCapacity((phases + 1) * 2 * half)
    for phase in 0...phases {
      let shift = Double(phase) / Double(phases)
      let row = (0..<(2 * half)).map { tap in
        let distance = Double(tap - half + 1) - shift
        return sinc(distance * cutoff) * blackman(distance / Double(half))
      }
      let sum = row.reduce(0, +)
      result += row.map { Float($0 / sum) }
    }
    return result
  }

  private static func sinc(_ x: Double) -> Double {
    abs(x) < 1e-9 ? 1 : sine(.pi * x) / (.pi * x)
  }

  /// - Parameter x: −1…1 from one end of the window to the other.
  private static func blackman(_ x: Double) -> Double {
    guard abs(x) < 1 else { return 0 }
    return 0.42 + 0.5 * cosine(.pi * x) + 0.08 * cosine(2 * .pi * x)
  }
}
