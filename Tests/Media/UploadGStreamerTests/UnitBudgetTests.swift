#if Media
  import Testing

  @testable import UploadGStreamer

  /// What a slow connection takes of pictures that are encoded for several.
  @Suite struct UnitBudgetTests {
    private struct Taken: Equatable {
      var bits = 0.0
      var longestGap = 0
      var afterGap = 0
    }

    /// 20 s of pictures with 1 Mbit/s, and a key frame, 4 times as large, every two seconds.
    private func taken(at bitsPerSecond: Int, excess: Double = 1) -> Taken {
      var budget = UnitBudget()
      var taken = Taken()
      var gap = 0
      for picture in 0..<600 {
        let isKeyFrame = picture % 60 == 0
        let byteCount = Int((isKeyFrame ? 16_000 : 4_000) * excess)
        let isTaken = budget.takes(
          byteCount, isKeyFrame: isKeyFrame, atNs: UInt64(picture) * 33_333_333,
          bitsPerSecond: bitsPerSecond, aim: 1_000_000)
        if isTaken {
          taken.bits += Double(byteCount * 8)
          // Nothing that needs a picture which was left out.
          if gap > 0, !isKeyFrame { taken.afterGap += 1 }
        }
        gap = isTaken ? 0 : gap + 1
        taken.longestGap = max(taken.longestGap, gap)
      }
      return taken
    }

    @Test(arguments: [100_000, 250_000, 500_000, 900_000])
    func slowConnectionTakesItsBitrateFromKeyFrames(bitsPerSecond: Int) {
      let taken = taken(at: bitsPerSecond)
      let share = taken.bits / 20 / Double(bitsPerSecond)
      #expect((0.5...1.15).contains(share), "\(taken)")
      #expect(taken.afterGap == 0)
      // Two of the key frames' intervals.
      #expect(taken.longestGap <= 120, "\(taken)")
    }

    /// Also while the encoder makes more than it should: the connection's pace bears that.
    @Test(arguments: [1.0, 1.1, 1.3]) func connectionThatTheEncoderFollowsTakesAll(excess: Double) {
      #expect(taken(at: 1_000_000, excess: excess).longestGap == 0)
      #expect(taken(at: 1_100_000, excess: excess).longestGap == 0)
    }
  }
#endif
