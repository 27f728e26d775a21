#if Media
  /// The time after a window was shown, or the captured size changed, in which its program may not
  /// have drawn all of the picture. It ends when nobody has drawn for a moment.
  struct ScreenTransition {
    private var changedAtNs: UInt64?
    private var drawnAtNs: UInt64 = 0

    /// No drawing for this long: the program has finished, or waits.
    private static let quietNs: UInt64 = 200_000_000
    /// A film never rests.
    private static let longestNs: UInt64 = 1_000_000_000

    var isActive: Bool { changedAtNs != nil }

    /// Each change begins it again: there is no complete picture while the size changes.
    mutating func begin(nowNs: UInt64) {
      changedAtNs = nowNs
      drawnAtNs = nowNs
    }

    mutating func noteDrawing(nowNs: UInt64) { drawnAtNs = nowNs }

    mutating func endIfQuiet(nowNs: UInt64) {
      guard let changedAtNs else { return }
      if nowNs >= drawnAtNs + Self.quietNs || nowNs >= changedAtNs + Self.longestNs {
        self.changedAtNs = nil
      }
    }
  }
#endif
