import Platform

/// Stereo sound of any rate to 48,000 sample frames a second.
///
/// Each new sample is the sum of those around its moment, weighted by a sinc function under a
/// Kaiser window (J. O. Smith, “Digital Audio Resampling”): flat to 0.83 of half the lower rate,
/// and 90 dB down from where that rate carries nothing any more
/// (docs/decisions/0025-own-resampler.md). Where the input's first sample lies in time, there lies
/// the output's: the filter looks ahead instead of delaying.
struct Resampler {
  /// Samples on each side at the cutoff rate.
  private static let reach = 32
  /// The window's shape: 90 dB.
  private static let beta = 8.96
  /// Of a lower output rate, where the transition's middle lies, so that its end is at the half.
  private static let margin = 0.917
  /// Moments between two samples for which weights are kept; others lie between two of these.
  private static let phases = 256
  static let rates = 4_000...768_000

  /// Four sample frames.
  private typealias Quad = SIMD8<Float>

  private let inputRate: Int
  /// Samples on each side that are weighted: an even number.
  private let half: Int
  /// For each phase, the weights of `2 * half` samples, by four and each for left and right.
  private let weights: [Quad]
  /// Input not yet passed by: pairs, the first of which is `half` before the next output.
  private var pending: [Float]
  /// How far the next output lies behind an input sample, in parts of 48,000.
  private var fraction = 0

  /// - Parameter inputRate: one of `rates`.
  init(from inputRate: Int) {
    precondition(Self.rates.contains(inputRate), "\(inputRate) is no rate in \(Self.rates)")
    self.inputRate = inputRate
    let share = Double(SoundChunk.sampleRate) / Double(inputRate)
    let cutoff = share < 1 ? share * Self.margin : 1
    half = Int((Double(Self.reach) / min(1, share) / 2).rounded(.up)) * 2
    weights = Self.weights(half: half, cutoff: cutoff)
    // What was before the first sample is silence, up to the sample itself.
    pending = [Float](repeating: 0, count: 2 * (half - 1))
  }

  /// Takes sample frames in, and gives those out that all neighbours are known of.
  mutating func process(_ input: [Float]) -> [Float] {
    if inputRate == SoundChunk.sampleRate { return input }
    pending += input
    var output: [Float] = []
    output.reserveCapacity(input.count * SoundChunk.sampleRate / inputRate + 2)
    var first = 0
    while (first + 2 * half) * 2 <= pending.count {
      let pair = sampleFrame(from: first)
      output.append(pair.x)
      output.append(pair.y)
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

  /// Left and right of the output whose neighbours begin there.
  private func sampleFrame(from first: Int) -> SIMD2<Float> {
    let place = Double(fraction) / Double(SoundChunk.sampleRate) * Double(Self.phases)
    let phase = Int(place)
    let share = Quad(repeating: Float(place - Double(phase)))
    let count = half / 2
    var sum = Quad.zero
    // SAFETY: the caller saw that 2 * half sample frames follow `first`; there are weights for one
    // phase more than there are phases.
    unsafe pending.withUnsafeBytes { samples in
      unsafe weights.withUnsafeBufferPointer { weights in
        for index in 0..<count {
          let before = unsafe weights[phase * count + index]
          let after = unsafe weights[(phase + 1) * count + index]
          let quad = unsafe samples.loadUnaligned(
            fromByteOffset: (first * 2 + index * 8) * 4, as: Quad.self)
          sum += quad * (before + (after - before) * share)
        }
      }
    }
    let halves = sum.lowHalf + sum.highHalf
    let pair = halves.lowHalf + halves.highHalf
    return pair.clamped(lowerBound: SIMD2(-1, -1), upperBound: SIMD2(1, 1))
  }

  /// The weights of each phase, which sum up to 1: silence and a constant stay what they are.
  private static func weights(half: Int, cutoff: Double) -> [Quad] {
    var result: [Quad] = []
    result.reserveCapacity((phases + 1) * half / 2)
    for phase in 0...phases {
      let shift = Double(phase) / Double(phases)
      let row = (0..<(2 * half)).map { tap in
        let distance = Double(tap - half + 1) - shift
        return sinc(distance * cutoff) * kaiser(distance / Double(half))
      }
      let sum = row.reduce(0, +)
      for quad in 0..<(half / 2) {
        var weights = Quad.zero
        for lane in 0..<8 { weights[lane] = Float(row[quad * 4 + lane / 2] / sum) }
        result.append(weights)
      }
    }
    return result
  }

  private static func sinc(_ x: Double) -> Double {
    abs(x) < 1e-9 ? 1 : sine(.pi * x) / (.pi * x)
  }

  /// - Parameter x: −1…1 from one end of the window to the other.
  private static func kaiser(_ x: Double) -> Double {
    abs(x) < 1 ? bessel(beta * (1 - x * x).squareRoot()) / bessel(beta) : 0
  }

  /// The modified Bessel function I₀, by its power series.
  private static func bessel(_ x: Double) -> Double {
    var (sum, term, k) = (1.0, 1.0, 1.0)
    while term > sum * 1e-16 {
      term *= x / (2 * k) * (x / (2 * k))
      sum += term
      k += 1
    }
    return sum
  }
}
