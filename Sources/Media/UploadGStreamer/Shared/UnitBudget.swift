#if Media
  import WHIP

  /// Which of a shared encoder's pictures one connection takes that carries less than the encoder
  /// makes: each key frame and what follows it, until the bitrate is used up.
  struct UnitBudget: Equatable {
    /// What is not used adds up to the bits of this time, so that a key frame fits in.
    private static let mostSeconds = 1.0
    /// A key frame is taken with this part of it, because the next may be far.
    private static let leastShare = 0.5
    /// An encoder that aims at less than this many times the connection's bitrate follows it, and
    /// what is too much for a moment waits for the connection's pace.
    private static let leastExcess = 1.05

    /// Nil before the first picture: all of it.
    private var bits: Double?
    private var timeNs: UInt64 = 0
    private var awaitsKeyFrame = false

    /// - Parameter aim: the encoder's bitrate.
    mutating func takes(_ unit: KeptUnit, at bitrate: BitrateControl, aim: Int) -> Bool {
      takes(
        unit.byteCount, isKeyFrame: unit.isKeyFrame, atNs: unit.timeNs,
        bitsPerSecond: bitrate.mediaBitsPerSecond, aim: aim)
    }

    /// - Parameter bitsPerSecond: of the connection.
    mutating func takes(
      _ byteCount: Int, isKeyFrame: Bool, atNs: UInt64, bitsPerSecond: Int, aim: Int
    ) -> Bool {
      defer { timeNs = atNs }
      let rate = Double(bitsPerSecond)
      guard Double(aim) >= Self.leastExcess * rate else {
        bits = nil
        awaitsKeyFrame = awaitsKeyFrame && !isKeyFrame
        return !awaitsKeyFrame
      }
      let elapsed = Double(atNs - min(atNs, timeNs)) / 1e9
      var left = min(rate * Self.mostSeconds, (bits ?? rate * Self.mostSeconds) + rate * elapsed)
      defer { bits = left }
      if awaitsKeyFrame {
        guard isKeyFrame, left >= Self.leastShare * Self.mostSeconds * rate else { return false }
        awaitsKeyFrame = false
      } else if left <= 0 {
        awaitsKeyFrame = true
        return false
      }
      left -= Double(byteCount * 8)
      return true
    }
  }
#endif
