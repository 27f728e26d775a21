import Platform

/// Converts stereo sound of any rate to 48,000 sample frames a second.
///
/// Each output sample is the sum of the input samples around its time, weighted by a sinc function
/// under a Kaiser window (J. O. Smith, “Digital Audio Resampling”): flat to 0.83 of half the lower
/// rate, and 90 dB down at the frequency that this rate can no longer carry
/// (docs/decisions/0025-own-resampler.md). The first output sample has the time of the first input
/// sample: the filter looks ahead instead of adding delay.
struct Resampler {
  /// Samples on each side of the center, at the cutoff rate.
  private static let reach = 32
  /// Shape parameter of the window, for 90 dB.
  private static let beta = 8.96
  /// The transition band's center as a share of a lower output rate; it ends at half that rate.
  private static let margin = 0.917
  /// Phases between two samples for which weights are stored; others are interpolated.
  private static let phases = 256
  static let rates = 4_000...768_000

  /// Four sample frames.
  private typealias Quad = SIMD8<Float>

  private let inputRate: Int
  /// Weighted samples on each side: an even number.
  private let half: Int
  /// For each phase, the weights of `2 * half` samples, by four and each for left and right.
  private let weights: [Quad]
  /// Input that is still needed, in pairs; the first is `half - 1` before the next output.
  private var pending: [Float]
  /// The next output's distance from the input sample before it, in units of 1/48,000.
  private var fraction = 0

  /// - Parameter inputRate: one of `rates`.
  init(from inputRate: Int) {
    precondition(Self.rates.contains(inputRate), "\(inputRate) is not a rate in \(Self.rates)")
    self.inputRate = inputRate
    let share = Double(SoundChunk.sampleRate) / Double(inputRate)
    let cutoff = share < 1 ? share * Self.margin : 1
    half = Int((Double(Self.reach) / min(1, share) / 2).rounded(.up)) * 2
    weights = Self.weights(half: half, cutoff: cutoff)
    // Silence precedes the first sample.
    pending = [Float](repeating: 0, count: 2 * (half - 1))
  }

  /// Adds sample frames and returns the output frames for which all neighbours are known.
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

  /// Returns the remaining output at the end of the input.
  mutating func finish() -> [Float] {
    if inputRate == SoundChunk.sampleRate { return [] }
    return process([Float](repeating: 0, count: 2 * half))
  }

  /// The left and right output samples whose neighbours begin at `first`.
  private func sampleFrame(from first: Int) -> SIMD2<Float> {
    let place = Double(fraction) / Double(SoundChunk.sampleRate) * Double(Self.phases)
    let phase = Int(place)
    let share = Quad(repeating: Float(place - Double(phase)))
    let count = half / 2
    var sum = Quad.zero
    // SAFETY: the caller checked that 2 * half sample frames follow `first`; there is one row of
    // weights more than there are phases.
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

  /// The weights of each phase. They sum to 1, so silence and a constant pass unchanged.
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
