import Capture
import FrameBus
import Testing

@Suite struct CaptureExtentTests {
  private let screen = PixelRect(x: 0, y: 0, width: 3840, height: 2160)
  private let second: UInt64 = 1_000_000_000

  private func demand(_ width: Int, _ height: Int, rate: FrameRate? = nil) -> Demand {
    Demand(box: Demand.Box(width: width, height: height), rate: rate)
  }

  @Test func pictureFillsTheBoxAndIsNoLargerThanNeeded() {
    // A phone upright, across, one that shows two thirds, a thumbnail, a dot, a box of one side.
    for (box, width, height) in [
      (demand(1170, 2532), 1280, 720), (demand(2532, 1170), 3840, 2160),
      (demand(1280, 720), 1280, 720), (demand(1281, 720), 1280, 720),
      (demand(1281, 721), 1920, 1080), (demand(1, 1), 240, 135), (demand(1, 65_535), 240, 135),
    ] {
      var extent = CaptureExtent(rate: FrameRate(30))
      extent.follow(box, of: screen, nowNs: 0)
      let picture = extent.picture(of: screen)
      #expect(picture == PixelRect(x: 0, y: 0, width: width, height: height), "\(box)")
    }
  }

  @Test func oddSidesKeepTheirLastPixels() {
    var extent = CaptureExtent(rate: FrameRate(30))
    let area = PixelRect(x: 7, y: 5, width: 321, height: 243)
    extent.follow(demand(160, 120), of: area, nowNs: 0)
    #expect(extent.picture(of: area) == PixelRect(x: 0, y: 0, width: 161, height: 122))
    let changed = DamageRegion([PixelRect(x: 3, y: 3, width: 2, height: 2)])
    #expect(extent.damage(changed).rects == [PixelRect(x: 1, y: 1, width: 2, height: 2)])
    #expect(extent.damage(.full).isFull && extent.damage(.none).isEmpty)
  }

  @Test func noSideBecomesTooShort() {
    var extent = CaptureExtent(rate: FrameRate(30))
    let strip = PixelRect(x: 0, y: 0, width: 1000, height: 40)
    extent.follow(demand(10, 10), of: strip, nowNs: 0)
    #expect(extent.divisor == 2)
    extent.limit(to: PixelRect(x: 0, y: 0, width: 1000, height: 20))
    #expect(extent.divisor == 1)
  }

  @Test func moreFollowsAtOnceAndLessOnceItLasts() {
    var extent = CaptureExtent(rate: FrameRate(30))
    // The first subscriber sees no change.
    extent.follow(demand(1280, 720, rate: FrameRate(5)), of: screen, nowNs: 0)
    #expect(extent.divisor == 3 && extent.rate == FrameRate(5))
    extent.follow(.everything, of: screen, nowNs: 1)
    #expect(extent.divisor == 1 && extent.rate == FrameRate(30))
    let small = demand(1280, 720, rate: FrameRate(5))
    extent.follow(small, of: screen, nowNs: second)
    extent.follow(small, of: screen, nowNs: 3 * second - 1)
    #expect(extent.divisor == 1 && extent.rate == FrameRate(30))
    // One that comes for a moment begins the time anew.
    extent.follow(.everything, of: screen, nowNs: 3 * second)
    extent.follow(small, of: screen, nowNs: 4 * second)
    extent.follow(small, of: screen, nowNs: 6 * second - 1)
    #expect(extent.divisor == 1)
    extent.follow(small, of: screen, nowNs: 6 * second)
    #expect(extent.divisor == 3 && extent.rate == FrameRate(5))
    // The size goes up, the rate down.
    extent.follow(demand(1920, 1080, rate: FrameRate(1)), of: screen, nowNs: 7 * second)
    #expect(extent.divisor == 2 && extent.rate == FrameRate(5))
    extent.follow(demand(1920, 1080, rate: FrameRate(1)), of: screen, nowNs: 9 * second)
    #expect(extent.divisor == 2 && extent.rate == FrameRate(1))
    // Nobody is there for a while; the next one sees no change either.
    extent.follow(nil, of: screen, nowNs: 10 * second)
    extent.restart()
    extent.follow(demand(640, 360), of: screen, nowNs: 11 * second)
    #expect(extent.divisor == 6 && extent.rate == FrameRate(30))
  }

  @Test func rateStaysBetweenTheLowestAndTheSources() {
    for (demanded, rate) in [
      (FrameRate(1, 1000), FrameRate(1, 10)), (FrameRate(60), FrameRate(30)),
      (FrameRate(12), FrameRate(12)),
    ] {
      var extent = CaptureExtent(rate: FrameRate(30))
      extent.follow(Demand(rate: demanded), of: screen, nowNs: 0)
      #expect(extent.rate == rate)
    }
    var slow = CaptureExtent(rate: FrameRate(1, 60))
    slow.follow(Demand(rate: FrameRate(1, 1000)), of: screen, nowNs: 0)
    #expect(slow.rate == FrameRate(1, 60))
  }
}
