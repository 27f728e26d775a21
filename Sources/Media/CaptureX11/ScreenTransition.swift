#if Media
  /// The time after a window was shown, or the captured size changed, in which its program may not
  /// have drawn all of the picture. It ends when the program has drawn, and then nobody has drawn
  /// for a moment.
  struct ScreenTransition {
    private var changedAtNs: UInt64?
    private var firstDrawnAtNs: UInt64?
    private var drawnAtNs: UInt64 = 0

    /// No drawing for this long: the program has finished, or waits.
    private static let quietNs: UInt64 = 200_000_000
    /// A film never rests.
    private static let longestDrawingNs: UInt64 = 1_000_000_000
    /// A program that has nothing to draw never begins.
    private static let longestWaitNs: UInt64 = 1_000_000_000

    var isActive: Bool { changedAtNs != nil }

    /// Each change begins it again: there is no complete picture while the size changes.
    mutating func begin(nowNs: UInt64) {
      changedAtNs = nowNs
      firstDrawnAtNs = nil
    }

    /// Notes drawing after the change. What the server itself draws with the change, such as the
    /// window's background, does not count.
    mutating func noteDrawing(nowNs: UInt64) {
      firstDrawnAtNs = firstDrawnAtNs ?? nowNs
      drawnAtNs = nowNs
    }

    mutating func endIfQuiet(nowNs: UInt64) {
      guard let changedAtNs else { return }
      let isOver =
        if let firstDrawnAtNs {
          nowNs >= drawnAtNs + Self.quietNs || nowNs >= firstDrawnAtNs + Self.longestDrawingNs
        } else {
          nowNs >= changedAtNs + Self.longestWaitNs
        }
      if isOver { self.changedAtNs = nil }
    }
  }
#endif
