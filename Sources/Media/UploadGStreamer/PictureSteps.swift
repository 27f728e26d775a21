#if Media
  import FrameBus

  /// The frame rate and size of pictures at a bitrate that the network lowered: too few bits for
  /// a picture make it illegible, while half as many pictures have twice as many each.
  ///
  /// It steps down at once, and up when the bitrate allows it by far and for some time, because
  /// each step costs a key frame.
  struct PictureSteps: Equatable {
    struct Step: Equatable {
      /// One in this number of pictures is sent, with sides divided by that one.
      var rateDivisor: Int
      var sideDivisor: Int
      /// It is used below this number of bits a second for each pixel of the full size, and below
      /// this share of the requested bitrate.
      fileprivate var bitsPerPixel: Double
      fileprivate var requestedShare: Double
    }

    static let all = [
      Step(rateDivisor: 1, sideDivisor: 1, bitsPerPixel: .infinity, requestedShare: .infinity),
      Step(rateDivisor: 2, sideDivisor: 1, bitsPerPixel: 1, requestedShare: 0.5),
      Step(rateDivisor: 2, sideDivisor: 2, bitsPerPixel: 0.5, requestedShare: 0.25),
      Step(rateDivisor: 2, sideDivisor: 4, bitsPerPixel: 0.125, requestedShare: 0.0625),
    ]
    private static let riseFactor = 1.4
    private static let riseNs: UInt64 = 1_500_000_000
    /// A smaller side shows nothing.
    private static let leastSide = 90

    private(set) var width: Int
    private(set) var height: Int
    private(set) var index = 0
    /// Since when the bitrate allows a higher step.
    private var roomSinceNs: UInt64?

    init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }

    var step: Step { Self.all[index] }

    /// The full size is another; the step stays, as far as the size allows it.
    mutating func resize(to size: PixelRect) {
      (width, height) = (size.width, size.height)
      while !isUsable(index) { index -= 1 }
    }

    /// - Returns: whether the step has changed.
    mutating func follow(_ bitsPerSecond: Int, of requested: Int, nowNs: UInt64) -> Bool {
      let before = index
      let rate = Double(bitsPerSecond)
      while index + 1 < Self.all.count, isUsable(index + 1), rate < bound(index + 1, requested) {
        index += 1
      }
      if index > before || index == 0 || rate < Self.riseFactor * bound(index, requested) {
        roomSinceNs = nil
      } else if let roomSinceNs {
        guard nowNs >= roomSinceNs &+ Self.riseNs else { return false }
        while index > 0, rate >= Self.riseFactor * bound(index, requested) { index -= 1 }
        self.roomSinceNs = nil
      } else {
        roomSinceNs = nowNs
      }
      return index != before
    }

    private func bound(_ index: Int, _ requested: Int) -> Double {
      let step = Self.all[index]
      return min(
        step.bitsPerPixel * Double(width * height), step.requestedShare * Double(requested))
    }

    private func isUsable(_ index: Int) -> Bool {
      let divisor = Self.all[index].sideDivisor
      return divisor == 1 || min(width, height) / divisor >= Self.leastSide
    }

    /// Even sides.
    func size(at step: Step) -> PictureSize {
      PictureSize(
        width: max(16, width / step.sideDivisor & ~1),
        height: max(16, height / step.sideDivisor & ~1))
    }

    /// The rate at which the encoder plans; a variable one stays so.
    func rate(_ full: FrameRate, at step: Step) -> FrameRate {
      guard full.numerator > 0, step.rateDivisor > 1 else { return full }
      let (denominator, isTooLarge) = full.denominator.multipliedReportingOverflow(
        by: .init(step.rateDivisor))
      return isTooLarge || denominator > Int32.max
        ? full : FrameRate(full.numerator, denominator)
    }
  }

  struct PictureSize: Equatable {
    let width: Int
    let height: Int
  }
#endif
