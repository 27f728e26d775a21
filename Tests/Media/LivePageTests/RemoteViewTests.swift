#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// A browser with `framebus view whep:URL`, which shows another process's streams.
  @Suite(.serialized) struct RemoteViewTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test func anotherServersPicturesAreShownBesideAStream() throws {
      let elsewhere = try TemporaryRoot()
      let screen = try VirtualScreen(width: 320, height: 240)
      func paint(_ color: String) throws {
        try output(of: "xsetroot", ["-display", screen.display, "-solid", color])
      }
      try paint("#c02040")
      let far = try ViewProgram(elsewhere)
      let capture = try elsewhere.framebus("capture", "screen:\(screen.display)", "--no-cursor")
      let local = try root.capture("400x300")
      let near = try ViewProgram(root, ["screen", "whep:\(far.url)whep"])
      let page = try BrowserPage(near.url)
      func wait(for red: Int, _ green: Int, _ blue: Int) throws {
        try page.wait(for: "\(red), \(green), \(blue)") { sights in
          guard let cards = sights.last?.cards, cards.count == 2 else { return false }
          let isLive = cards.allSatisfy { $0.state == "Live" }
          let isNear = zip(cards[1].color, [red, green, blue]).allSatisfy { abs($0 - $1) < 30 }
          return isLive && isNear && cards[1].width == 320 && cards[0].width == 400
        }
      }
      try wait(for: 0xc0, 0x20, 0x40)
      try paint("#2040c0")
      try wait(for: 0x20, 0x40, 0xc0)
      try page.waitForMovingPictures()
      #expect(try far.figures().viewers == 1 && near.figures().viewers == 1)
      // The address is shown, without its key.
      let title = page.newest?.cards?.last?.title ?? ""
      #expect(title.hasPrefix("http://127.0.0.1:") && title.hasSuffix("…/whep"), "\(title)")
      // The end of the page's server ends its session there.
      try near.program.end(with: SIGTERM)
      try waitUntil("the other server has no viewer") { try far.figures().viewers == 0 }
      try page.program.end(with: SIGTERM)
      try local.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      try far.program.end(with: SIGTERM)
    }

    @Test func cardsSayWhyThereIsNoPicture() throws {
      let far = try ViewProgram(root)
      let closed = try OwnPort()
      let token = try #require(far.url.split(separator: "/").last)
      let near = try ViewProgram(
        root,
        [
          "whep:http://127.0.0.1:\(closed.number)/whep",
          "whep:" + far.url.replacing(token, with: String(token.reversed())) + "whep",
        ])
      let page = try BrowserPage(near.url)
      try page.wait(for: "both reasons") { sights in
        guard let cards = sights.last?.cards, cards.count == 2 else { return false }
        return cards[0].state == "Cannot reach the server"
          && cards[0].advice.contains("check that the server is running")
          && cards[1].state == "Refused by the server"
          && cards[1].advice.contains("status 403")
      }
      try page.program.end(with: SIGTERM)
      try near.program.end(with: SIGTERM)
      try far.program.end(with: SIGTERM)
    }
  }
#endif
