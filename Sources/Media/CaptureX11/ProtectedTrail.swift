#if Media
  import FrameBus

  /// Areas that no protected window covers any more, and that may still show one.
  ///
  /// A window may be seen where it no longer is: a compositor paints later than windows move, and
  /// fades out what has gone, so areas stay black for a moment. Below that, the pixels stay until
  /// the programs there have drawn their own: so areas also stay black until all of them was drawn
  /// while no protected window moved. As that may have happened before it was known that the window
  /// has left, programs are asked once to draw again (``isRequestDue(nowNs:)``).
  struct ProtectedTrail {
    private var ends: [PixelRect: UInt64] = [:]
    private(set) var undrawn: [PixelRect] = []
    private var requestNs: UInt64?
    private var isChanged = false

    /// Longer than a compositor's animations, and than a program takes to redraw.
    static let durationNs: UInt64 = 1_000_000_000
    /// How long a program may take to draw a new picture by itself.
    private static let drawingNs: UInt64 = 150_000_000
    /// More are merged into one.
    private static let maximumCount = 256

    var areas: some Sequence<PixelRect> { Array(ends.keys) + undrawn }

    /// Adds an area that a window has left.
    mutating func add(_ area: PixelRect, nowNs: UInt64) {
      if area.isEmpty { return }
      addPassed(area, nowNs: nowNs)
      addUndrawn(area)
      requestNs = nowNs + Self.durationNs
    }

    /// Adds an area where a compositor may show a window for a moment.
    mutating func addPassed(_ area: PixelRect, nowNs: UInt64) {
      ends[area] = nowNs + Self.durationNs
      guard ends.count > Self.maximumCount else { return }
      ends = [ends.keys.reduce(area) { $0.spanning($1) }: nowNs + Self.durationNs]
    }

    /// Adds an area of a new picture, into which the server has copied what the screen showed.
    mutating func addCopied(_ area: PixelRect, nowNs: UInt64) {
      if area.isEmpty { return }
      addUndrawn(area)
      requestNs = max(requestNs ?? 0, nowNs + Self.drawingNs)
    }

    private mutating func addUndrawn(_ area: PixelRect) {
      isChanged = true
      undrawn = undrawn.filter { !area.contains($0) } + [area]
      if undrawn.count > Self.maximumCount {
        undrawn = [undrawn.reduce(area) { $0.spanning($1) }]
      }
    }

    /// Removes what was drawn.
    mutating func subtract(_ drawn: [PixelRect]) {
      guard !undrawn.isEmpty else { return }
      for rect in drawn where undrawn.contains(where: { !$0.intersection(rect).isEmpty }) {
        undrawn = undrawn.flatMap { $0.subtracting(rect) }
        isChanged = true
      }
      if let first = undrawn.first, undrawn.count > Self.maximumCount {
        undrawn = [undrawn.reduce(first) { $0.spanning($1) }]
      }
      if undrawn.isEmpty { requestNs = nil }
    }

    /// Whether ``areas`` changed or can become less.
    func isOutdated(nowNs: UInt64) -> Bool {
      isChanged || ends.values.contains { $0 <= nowNs } || isRequestDue(nowNs: nowNs)
    }

    mutating func update(nowNs: UInt64) {
      isChanged = false
      ends = ends.filter { $0.value > nowNs }
    }

    /// Whether programs have had the time to draw by themselves.
    func isRequestDue(nowNs: UInt64) -> Bool { requestNs.map { $0 <= nowNs } ?? false }
    mutating func noteRequest() { requestNs = nil }

    /// Asks once more, as what was drawn in answer could not be told from something else.
    mutating func renewRequest(nowNs: UInt64) {
      if !undrawn.isEmpty, requestNs == nil { requestNs = nowNs + Self.drawingNs }
    }
  }

  extension PixelRect {
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
