#if Media
  import FrameBus

  /// Areas that protected windows have left, and that stay black for a moment.
  ///
  /// A window may be seen where it no longer is: a compositor paints later than windows move, and
  /// fades out what has gone; without one, the pixels stay until the program below has drawn its
  /// own.
  struct ProtectedTrail {
    private var ends: [PixelRect: UInt64] = [:]

    /// Longer than a compositor's animations, and than a program takes to redraw.
    static let durationNs: UInt64 = 1_000_000_000
    /// More are merged into one.
    private static let maximumCount = 256

    var areas: some Collection<PixelRect> { ends.keys }

    mutating func add(_ area: PixelRect, nowNs: UInt64) {
      if area.isEmpty { return }
      ends[area] = nowNs + Self.durationNs
      guard ends.count > Self.maximumCount else { return }
      ends = [ends.keys.reduce(area) { $0.spanning($1) }: nowNs + Self.durationNs]
    }

    func hasExpired(nowNs: UInt64) -> Bool { ends.values.contains { $0 <= nowNs } }

    mutating func removeExpired(nowNs: UInt64) { ends = ends.filter { $0.value > nowNs } }
  }
#endif
