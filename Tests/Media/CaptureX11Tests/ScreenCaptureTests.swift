import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct ScreenCaptureTests {
  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"], ["--isolate"]])
  func framesEqualAnIndependentGrab(backend: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld(width: 321, height: 243)
      let logo = try world.screen.show("xlogo", ["-geometry", "200x150+40+30", "-bg", "#c08040"])
      let capture = try world.capture("--no-cursor", backend[0], backend.dropFirst().first ?? "-q")
      var subscriber = try world.subscriber()
      // The logo is drawn once its window has its colour.
      let frame = try subscriber.take { $0.bytes.contains(0xC0) && $0.pixel(45, 35) == 0xC08040 }
      #expect(frame.width == 321 && frame.height == 243)
      let grab = try world.independentGrab(width: 321, height: 243)
      #expect(frame.differences(from: grab).isEmpty)
      _ = subscriber
      try capture.end(with: SIGTERM)
      withExtendedLifetime(logo) {}
    }
  }

  @Test func unchangedScreenPublishesNothingAndAChangeHasItsRegion() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let capture = try world.capture("--fps", "50")
      var subscriber = try world.subscriber()
      let first = try subscriber.take { $0.pixel(10, 10) == 0x112233 }
      #expect(first.damage.isFull)
      // Time for 25 more frames, after those in transit.
      while try subscriber.take(within: .milliseconds(500)) != nil {}
      #expect(try subscriber.take(within: .milliseconds(500)) == nil)
      let logo = try world.screen.show("xlogo", ["-geometry", "60x40+100+80", "-bg", "#c08040"])
      let changed = try subscriber.take { $0.pixel(102, 82) == 0xC08040 }
      #expect(!changed.damage.isFull)
      #expect(
        changed.damage.rects.allSatisfy {
          $0.x >= 98 && $0.y >= 78 && $0.x + $0.width <= 164 && $0.y + $0.height <= 124
        })
      let result = try capture.end(with: SIGINT)
      #expect(result.status == .exited(130))
      withExtendedLifetime(logo) {}
    }
  }

  /// Windows appear, move, change and disappear while the pointer moves over them.
  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"]])
  func aPictureRedrawnOnlyWhereDamagedIsTheWholePicture(backend: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture("--fps", "60", backend[0], backend[1])
      var subscriber = try world.subscriber()
      guard var picture = try subscriber.take() else { throw HarnessError("no frame came") }
      var partialCount = 0
      // A subscriber that misses many frames on a busy machine has the next one changed in full.
      for number in 0..<600 where number < 12 || partialCount == 0 {
        let step = number % 12 + 1
        let logo = try world.screen.show("xlogo", ["-geometry", "60x40+\(step * 20)+\(step * 15)"])
        try world.movePointer(x: step * 22, y: step * 16)
        // Each step changes the picture, however late a busy machine captures it.
        var limit = Duration.seconds(30)
        while let frame = try subscriber.take(within: limit) {
          picture.redraw(frame.damage, from: frame)
          #expect(picture.bytes == frame.bytes, "step \(step): \(frame.damage.rects)")
          partialCount += frame.damage.isFull ? 0 : 1
          limit = .milliseconds(200)
        }
        withExtendedLifetime(logo) {}
      }
      #expect(partialCount > 0)
      try capture.end(with: SIGTERM)
    }
  }

  @Test func newSubscriberReceivesAFrameWithoutAChange() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture()
      var first = try world.subscriber()
      #expect(try first.take() != nil)
      while try first.take(within: .milliseconds(300)) != nil {}
      var second = try world.subscriber(start: .next)
      #expect(try second.take()?.damage.isFull == true)
      #expect(try first.take()?.damage.isEmpty == true)
      try capture.end(with: SIGTERM)
    }
  }

  @Test func idleCaptureUsesNoProcessorTime() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let clock = try world.screen.show("xclock", ["-update", "1"])
      let capture = try world.capture("--fps", "60", "--json")
      do {
        var subscriber = try world.subscriber()
        #expect(try subscriber.take() != nil)
      }
      // The publisher has noticed once it reports this.
      try capture.waitForErrors("waiting for a subscriber")
      let facts = ProcessFacts(capture.processID)
      let before = try facts.userTicks + facts.systemTicks
      Platform.sleep(until: .after(.seconds(2)))
      #expect(try facts.userTicks + facts.systemTicks - before <= 1)
      try capture.end(with: SIGTERM)
      withExtendedLifetime(clock) {}
    }
  }

  @Test func cursorIsDrawnAtItsPositionAndFollowed() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#305070")
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      for (x, y) in [(150, 120), (60, 50), (319, 239)] {
        try world.movePointer(x: x, y: y)
        let plain = try world.independentGrab(width: 320, height: 240)
        let frame = try subscriber.take { frame in
          let places = frame.differences(from: plain)
          return !places.isEmpty
            && places.allSatisfy { abs($0.x - x) <= 64 && abs($0.y - y) <= 64 }
        }
        #expect(frame.differences(from: plain).count < 64 * 64)
      }
      try capture.end(with: SIGTERM)
    }
  }

  @Test func regionOfTheScreenIsCaptured() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let logo = try world.screen.show("xlogo", ["-geometry", "60x40+100+80", "-bg", "#c08040"])
      let capture = try world.capture("--size", "40x30+110+85", "--no-cursor")
      var subscriber = try world.subscriber()
      let frame = try subscriber.take { $0.bytes.contains(0xC0) }
      #expect(frame.width == 40 && frame.height == 30)
      let grab = try world.independentGrab(width: 320, height: 240)
      var rows: [UInt8] = []
      for y in 85..<115 {
        let start = (y * 320 + 110) * 4
        rows += grab[start..<start + 40 * 4]
      }
      #expect(frame.differences(from: rows).isEmpty)
      try capture.end(with: SIGTERM)
      withExtendedLifetime(logo) {}
    }
  }

  @Test func newResolutionContinuesWithoutReconnecting() throws {
    try withWatchdog {
      let world = try ScreenWorld(width: 640, height: 480)
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      #expect(try subscriber.take()?.width == 640)
      for (width, height) in [(320, 240), (639, 479), (640, 480)] {
        try world.resize(width: width, height: height)
        let frame = try subscriber.take { $0.width == width && $0.height == height }
        #expect(frame.bytes.count == width * height * 4)
        #expect(frame.damage.isFull)
      }
      try capture.end(with: SIGTERM)
    }
  }

  /// A screen of one colour has frames of one colour, whatever its previous size was.
  @Test func everyFrameIsCompleteWhileTheScreenIsResized() throws {
    try withWatchdog {
      let world = try ScreenWorld(width: 640, height: 480)
      try world.paint("#112233")
      let capture = try world.capture("--no-cursor", "--fps", "60")
      var subscriber = try world.subscriber(start: .oldest)
      for (width, height) in [(320, 240), (639, 479), (64, 48), (640, 480)] {
        try world.resize(width: width, height: height)
        _ = try subscriber.take { frame in
          #expect(frame.count(of: 0x112233) == frame.width * frame.height)
          return frame.width == width && frame.height == height
        }
      }
      try capture.end(with: SIGTERM)
    }
  }

  @Test func newScreenSizeIsPosted() throws {
    let world = try ScreenWorld(width: 640, height: 480)
    let watch = try RunningProgram(
      "framebus",
      [
        "notify", "watch", "framebus.stream.screen", "--root", world.root.path, "--group",
        "org.example.test", "--count", "3", "--json",
      ])
    try watch.waitForErrors("watching")
    let capture = try world.capture()
    // Each size is waited for: two posts before one poll would be one delivery. Pictures need a
    // subscriber.
    try watch.waitForOutput("\(state(640, 480))")
    var subscriber = try world.subscriber()
    _ = try subscriber.take()
    try world.resize(width: 320, height: 240)
    _ = try subscriber.take { $0.width == 320 }
    try watch.waitForOutput("\(state(320, 240))")
    try capture.end(with: SIGTERM)
    #expect(try watch.finish().status == .exited(0))
    #expect(watch.output.text.split(separator: "\n").count == 3)
  }

  /// The notification's state for a stream of that size.
  private func state(_ width: UInt64, _ height: UInt64) -> UInt64 {
    1 | width << 32 | height << 48
  }
}
