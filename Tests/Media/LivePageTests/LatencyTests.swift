#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// The page's figure beside the clock that the test pattern draws in each picture.
  @Suite struct LatencyTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// Keeps for each picture its age: the time at which the browser expects to show it, less the
    /// time in its mark (`TestPatternMark`), which is of another clock.
    private static let watching = """
      (function watch(video, ages) {
        window.ages = ages;
        video.requestVideoFrameCallback((_, frame) => {
          const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
          const context = canvas.getContext("2d");
          context.drawImage(video, 0, 0);
          const side = Math.min(Math.floor(canvas.width / 22), Math.floor(canvas.height / 8));
          const { data, width } = context.getImageData(0, 0, canvas.width, 5 * side);
          let drawn = 0;
          for (let index = 32; index < 64; index++) {
            const x = side * (1 + index % 20) + (side >> 1);
            const y = side * (1 + Math.floor(index / 20)) + (side >> 1);
            drawn = 2 * drawn + (data[4 * (y * width + x) + 1] > 127 ? 1 : 0);
          }
          ages.push(performance.timeOrigin + frame.expectedDisplayTime - drawn);
          watch(video, ages);
        });
      })(document.querySelector("video"), [])
      """

    private struct Figures: Decodable {
      /// Such as `24 ms`.
      let shown: String
      let ages: [Double]
    }

    @Test func figureIsTheAgeOfThePicturesOnTheScreen() throws {
      try withWatchdog {
        let view = try ViewProgram(root)
        let capture = try root.capture()
        let page = try BrowserPage(view.url, usedIn: root)
        try page.waitForMovingPictures()
        try page.order(Self.watching)
        // The page's figure is of the last second, like the ages since it changed. A busy machine
        // delays a part of it, so the ratio is the median of some; a figure that leaves out a step
        // has a wrong one always.
        var (shown, ages, ratios) = ("", [Double](), [Double]())
        try waitUntil("nine figures") {
          let answer = try page.order(
            "({ shown: cards[0].parts.latency.textContent, ages: ages.splice(0) })")
          let figures = try JSONDecoder().decode(Figures.self, from: Data(answer.utf8))
          // From the clock of the mark, whose numbers have 32 bits, to that of the browser.
          let offset =
            Date().timeIntervalSince1970 * 1000 - Double(monotonicNowNs() / 1_000_000 % (1 << 32))
          ages += figures.ages.map { $0 - offset }.filter { (0...60_000).contains($0) }
          guard figures.shown != shown else { return false }
          // The first one began before the ages did.
          if !shown.isEmpty, ages.count > 2, let number = Double(figures.shown.prefix { $0 != " " })
          {
            ratios.append(number / ages.sorted()[ages.count / 2])
          }
          (shown, ages) = (figures.shown, [])
          return ratios.count >= 9
        }
        let ratio = ratios.sorted()[ratios.count / 2]
        #expect((0.6...1.6).contains(ratio), "\(ratios)")
        try page.program.end(with: SIGTERM)
        try view.program.end(with: SIGTERM)
        try capture.end(with: SIGTERM)
      }
    }
  }
#endif
