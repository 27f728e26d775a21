#if Media
  import FrameBus

  /// Areas that no protected window covers any more, and that may still show one.
  ///
  /// A window may be seen where it no longer is: a compositor paints later than windows move, and
  /// lets closed ones fade out, so areas stay black for a moment. Below that, the pixels stay until
  /// the programs there have drawn their own: so areas also stay black until all of them was drawn
  /// while no protected window moved. As that may have happened before it was known that the window
  /// has left, programs are asked to draw again (``isRequestDue(nowNs:)``).
  struct ProtectedTrail {
    /// The target. Nothing outside of it is seen, or drawn.
    var bounds = PixelRect(x: 0, y: 0, width: Int(Int16.max), height: Int(Int16.max))
    private var passed: [(area: PixelRect, endNs: UInt64)] = []
    private(set) var undrawn: [PixelRect] = []
    private var requestNs: UInt64?
    private var requestCount = 0
    private var isChanged = false

    /// Longer than a compositor's animations, and than a program takes to redraw.
    static let durationNs: UInt64 = 1_000_000_000
    /// How long a program may take to draw a new picture by itself.
    private static let drawingNs: UInt64 = 150_000_000
    /// Further areas are merged with others.
    static let maximumCount = 256

    var areas: [PixelRect] { passed.map(\.area) + undrawn }

    /// Adds an area that a window has left.
    mutating func add(_ area: PixelRect, nowNs: UInt64) {
      addPassed(area, nowNs: nowNs)
      addUndrawn(area, requestNs: nowNs + Self.durationNs)
    }

    /// Adds an area where a compositor may show a window for a moment.
    mutating func addPassed(_ area: PixelRect, nowNs: UInt64) {
      let area = area.intersection(bounds)
      if area.isEmpty { return }
      let endNs = nowNs + Self.durationNs
      passed.removeAll { area.contains($0.area) }
      if passed.count < Self.maximumCount { return passed.append((area, endNs)) }
      let nearest = area.nearest(of: passed.map(\.area))
      passed[nearest] = (passed[nearest].area.spanning(area), endNs)
    }

    /// Adds an area of a new picture, into which the server has copied what the screen showed.
    mutating func addCopied(_ area: PixelRect, nowNs: UInt64) {
      addUndrawn(area, requestNs: nowNs + Self.drawingNs)
    }

    private mutating func addUndrawn(_ area: PixelRect, requestNs: UInt64) {
      let area = area.intersection(bounds)
      if area.isEmpty { return }
      isChanged = true
      self.requestNs = requestNs
      requestCount = 0
      undrawn.removeAll { area.contains($0) }
      if undrawn.count < Self.maximumCount { return undrawn.append(area) }
      let nearest = area.nearest(of: undrawn)
      undrawn[nearest] = undrawn[nearest].spanning(area)
    }

    /// Removes what was drawn. An area that would break into too many parts stays whole.
    mutating func subtract(_ drawn: [PixelRect]) {
      for rect in drawn {
        var rest: [PixelRect] = []
        for (index, area) in undrawn.enumerated() {
          if area.intersection(rect).isEmpty {
            rest.append(area)
            continue
          }
          let parts = area.subtracting(rect)
          let isTooMany = rest.count + parts.count + undrawn.count - index - 1 > Self.maximumCount
          rest += isTooMany ? [area] : parts
          isChanged = true
        }
        undrawn = rest
      }
      if undrawn.isEmpty { requestNs = nil }
    }

    /// Whether ``areas`` changed or can become less.
    func isOutdated(nowNs: UInt64) -> Bool {
      isChanged || passed.contains { $0.endNs <= nowNs } || isRequestDue(nowNs: nowNs)
    }

    mutating func update(nowNs: UInt64) {
      isChanged = false
      passed.removeAll { $0.endNs <= nowNs }
    }

    /// Whether programs have had the time to draw by themselves.
    func isRequestDue(nowNs: UInt64) -> Bool { requestNs.map { $0 <= nowNs } ?? false }

    /// Asks again later, each time after twice as long.
    mutating func noteRequest(nowNs: UInt64) {
      requestNs = nowNs + Self.durationNs << UInt64(requestCount)
      requestCount = min(requestCount + 1, Self.maximumRequestCount)
    }

    /// About a minute.
    private static let maximumRequestCount = 6
  }

  extension PixelRect {
    /// The index of the rectangle that can contain this one too with the fewest pixels more.
    /// - Parameter rects: at least one.
    fileprivate func nearest(of rects: [PixelRect]) -> Int {
      rects.indices.min {
        rects[$0].growth(by: self) < rects[$1].growth(by: self)
      } ?? rects.startIndex
    }

    private func growth(by other: PixelRect) -> Int {
      let both = spanning(other)
      return both.width * both.height - width * height
    }

    /// What another rectangle leaves of it: at most four.
    func subtracting(_ other: PixelRect) -> [PixelRect] {
      let cut = intersection(other)
      if cut.isEmpty { return [self] }
      return [
        PixelRect(x: x, y: y, width: width, height: cut.y - y),
        PixelRect(x: x, y: cut.y, width: cut.x - x, height: cut.height),
        PixelRect(
          x: cut.x + cut.width, y: cut.y, width: x + width - cut.x - cut.width,
          height: cut.height),
        PixelRect(
          x: x, y: cut.y + cut.height, width: width, height: y + height - cut.y - cut.height),
      ].filter { !$0.isEmpty }
    }
  }
#endif
