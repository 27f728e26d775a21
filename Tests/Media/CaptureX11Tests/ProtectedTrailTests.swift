#if Media
  import FrameBus
  import Testing

  @testable import CaptureX11

  /// Areas that stay black after a protected window, by a clock of the test's own.
  @Suite struct ProtectedTrailTests {
    private let area = PixelRect(x: 10, y: 10, width: 40, height: 30)
    private let second: UInt64 = 1_000_000_000

    private func pixels(_ rects: [PixelRect]) -> [[Int]] {
      rects.flatMap { rect in
        (rect.x..<rect.x + rect.width).flatMap { x in
          (rect.y..<rect.y + rect.height).map { y in [x, y] }
        }
      }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// All rectangles of a small world.
    @Test func differenceOfTwoRectanglesHasEachOtherPixelOnce() {
      let spans = (0..<4).flatMap { first in (first + 1...4).map { first..<$0 } }
      let rects = spans.flatMap { x in
        spans.map { PixelRect(x: x.lowerBound, y: $0.lowerBound, width: x.count, height: $0.count) }
      }
      for one in rects {
        for other in rects {
          let cut = Set(pixels([other]))
          #expect(pixels(one.subtracting(other)) == pixels([one]).filter { !cut.contains($0) })
        }
      }
    }

    @Test func areaIsBlackUntilItsTimeIsOverAndAllOfItWasDrawn() {
      var trail = ProtectedTrail()
      trail.add(area, nowNs: 0)
      trail.subtract([PixelRect(x: 0, y: 0, width: 100, height: 20)])
      trail.update(nowNs: second - 1)
      #expect(Array(trail.areas).contains(area))
      #expect(!trail.isRequestDue(nowNs: second - 1) && trail.isRequestDue(nowNs: second))
      trail.update(nowNs: second)
      #expect(Array(trail.areas) == [PixelRect(x: 10, y: 20, width: 40, height: 20)])
      trail.noteRequest()
      #expect(!trail.isOutdated(nowNs: 1000 * second))
      trail.subtract([PixelRect(x: 0, y: 20, width: 100, height: 20)])
      #expect(trail.isOutdated(nowNs: second))
      #expect(Array(trail.areas).isEmpty)
    }

    @Test func drawnAreaIsBlackForTheTimeOfAnAnimation() {
      var trail = ProtectedTrail()
      trail.add(area, nowNs: 0)
      trail.subtract([area])
      trail.update(nowNs: second - 1)
      #expect(Array(trail.areas) == [area])
      #expect(!trail.isRequestDue(nowNs: second))
      trail.update(nowNs: second)
      #expect(Array(trail.areas).isEmpty)
    }

    @Test func manyAreasAreOneThatContainsThem() {
      var trail = ProtectedTrail()
      for index in 0..<1000 {
        trail.add(PixelRect(x: index * 3, y: index, width: 2, height: 2), nowNs: 0)
      }
      #expect(Array(trail.areas).count < 600)
      let all = Array(trail.areas)
      for index in 0..<1000 {
        let rect = PixelRect(x: index * 3, y: index, width: 2, height: 2)
        #expect(all.contains { $0.contains(rect) })
      }
    }
  }
#endif
