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
      // Each request waits for twice as long as the one before.
      trail.noteRequest(nowNs: second)
      #expect(!trail.isOutdated(nowNs: 2 * second - 1) && trail.isRequestDue(nowNs: 2 * second))
      trail.noteRequest(nowNs: 2 * second)
      #expect(!trail.isOutdated(nowNs: 4 * second - 1) && trail.isRequestDue(nowNs: 4 * second))
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

    @Test func areaOutsideOfTheTargetIsNotKept() {
      var trail = ProtectedTrail()
      trail.bounds = PixelRect(x: 0, y: 0, width: 30, height: 30)
      trail.add(PixelRect(x: 30, y: 0, width: 9, height: 9), nowNs: 0)
      trail.add(PixelRect(x: -9, y: -9, width: 9, height: 40), nowNs: 0)
      #expect(trail.areas.isEmpty && trail.undrawn.isEmpty)
      trail.add(area, nowNs: 0)
      #expect(trail.undrawn == [PixelRect(x: 10, y: 10, width: 20, height: 20)])
    }

    @Test func areaThatIsDrawnInManyPartsStaysBlackWhereItWasNot() {
      var trail = ProtectedTrail()
      trail.add(PixelRect(x: 0, y: 0, width: 400, height: 400), nowNs: 0)
      let drawn = (0..<10_000).map {
        PixelRect(x: $0 % 100 * 4 + $0 / 100 % 2, y: $0 / 100 * 4, width: 1, height: 1)
      }
      trail.subtract(drawn)
      #expect(trail.undrawn.count <= ProtectedTrail.maximumCount)
      for (x, y) in [(3, 3), (2, 0), (399, 399)] {
        let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
        #expect(trail.undrawn.contains { $0.contains(pixel) })
      }
    }

    @Test func manyAreasFarApartAreNotOne() {
      var trail = ProtectedTrail()
      for index in 0..<1000 {
        trail.add(
          PixelRect(x: index % 2 * 3000, y: index % 500, width: 1, height: 1), nowNs: 0)
      }
      #expect(trail.areas.allSatisfy { $0.width < 3000 })
    }

    @Test func manyAreasAreFewThatContainThem() {
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
