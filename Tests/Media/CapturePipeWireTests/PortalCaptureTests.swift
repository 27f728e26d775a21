import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// What the user of a desktop chose, captured over PipeWire.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct PortalCaptureTests {
  /// Memory of PipeWire, and of the producer: mapped, read, with gaps between rows, and as DMA-BUF.
  @Test func picturesArriveWholeAndInOrder() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      defer { portal.end() }
      for memory in ["server", "sealed", "unsealed", "padded", "dmabuf"] {
        let producer = try world.producer(memory)
        let capture = try world.capture()
        var subscriber = try world.subscriber()
        var last: UInt32 = 0
        var lastPtsNs = Int64.min
        for _ in 0..<20 {
          let picture = try #require(try subscriber.take(), "\(memory): \(capture.transcript)")
          let number = try #require(picture.number, "\(memory): a picture of two moments")
          #expect((picture.width, picture.height) == (64, 48))
          #expect(number > last && picture.ptsNs > lastPtsNs, "\(memory)")
          (last, lastPtsNs) = (number, picture.ptsNs)
        }
        #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
        producer.end()
      }
    }
  }

  /// At the producer's rate, and slower: what has changed in pictures that were left out counts
  /// too, also where it is more than a picture can name.
  @Test(arguments: [("30", 20), ("8", 10), ("1", 3)])
  func damageIsTakenOver(framesPerSecond: String, count: Int) throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer("damaged")
      defer {
        portal.end()
        producer.end()
      }
      let capture = try world.capture("--fps", framesPerSecond, "--json")
      var subscriber = try world.subscriber()
      var drawn = try #require(try subscriber.take()).pixels
      var partialCount = 0
      for _ in 0..<count {
        let picture = try #require(try subscriber.take(), "\(capture.transcript)")
        if !picture.damage.isFull { partialCount += 1 }
        // Each changed pixel lies in the damage.
        for rect in picture.damage.isFull ? [picture.whole] : picture.damage.rects {
          for y in rect.y..<rect.y + rect.height {
            for x in rect.x..<rect.x + rect.width {
              drawn[y * picture.width + x] = picture[x, y]
            }
          }
        }
        #expect(drawn == picture.pixels)
      }
      #expect(framesPerSecond != "30" || partialCount > 10, "\(partialCount)")
      let result = try capture.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(capture.transcript)")
      // Each picture that was left out is counted.
      if framesPerSecond != "30" {
        #expect(!result.output.contains("\"missedDeadlines\":0,"), "\(result.output)")
        #expect(result.output.contains("\"missedDeadlines\":"))
      }
    }
  }

  /// Those that the producer calls damaged, and buffers without a picture.
  @Test(arguments: ["corrupted", "marked", "empty"])
  func buffersThatHaveNoPictureAreLeftOut(memory: String) throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer(memory)
      defer {
        portal.end()
        producer.end()
      }
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      for _ in 0..<10 {
        let picture = try #require(try subscriber.take(), "\(capture.transcript)")
        #expect(try #require(picture.number) % 2 == 0)
      }
      #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
    }
  }

  /// A time that cannot be is that of the arrival.
  @Test func timesAreTheProducersIfTheyCanBe() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer("timed")
      defer {
        portal.end()
        producer.end()
      }
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      let startNs = Int64(monotonicNowNs()) - 60_000_000_000
      var lastNs = startNs
      for _ in 0..<12 {
        let picture = try #require(try subscriber.take(), "\(capture.transcript)")
        #expect(picture.ptsNs > lastNs && picture.ptsNs <= Int64(monotonicNowNs()))
        lastNs = picture.ptsNs
      }
      try capture.end(with: SIGTERM)
    }
  }

  @Test func cropIsTakenOver() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      defer { portal.end() }
      let cropping = try world.producer("cropped")
      defer { cropping.end() }
      let second = try world.capture()
      var cropped = try world.subscriber()
      let picture = try cropped.take { $0.number != nil }
      #expect((picture.width, picture.height) == (32, 16))
      try second.end(with: SIGTERM)
    }
  }

  /// A compositor's transform, as in wl_output, becomes the orientation; unknown ones mean upright.
  @Test func transformIsTheOrientation() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer("turned")
      defer {
        portal.end()
        producer.end()
      }
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      let expected: [Orientation] = [
        .up, .right, .down, .left, .upMirrored, .leftMirrored, .downMirrored, .rightMirrored, .up,
        .up,
      ]
      var seen: Set<UInt32> = []
      while seen.count < expected.count {
        let picture = try subscriber.take { $0.number != nil }
        let turn = try #require(picture.number) % 10
        #expect(picture.orientation == expected[Int(turn)])
        // A viewer redraws what has been turned.
        #expect(picture.damage.isFull || picture.orientation == .up)
        seen.insert(turn)
      }
      try capture.end(with: SIGTERM)
    }
  }

  /// The producer works for subscribers alone, and a still picture reaches a late one.
  @Test func producerRestsWithoutSubscribersAndAStillPictureIsKept() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer()
      defer { portal.end() }
      let capture = try world.capture()
      do {
        var subscriber = try world.subscriber()
        var last = try subscriber.take { $0.number != nil }
        try producer.tell("still")
        // Drains what was on its way.
        while let next = try subscriber.take(within: .milliseconds(500)) { last = next }
        var late = try world.subscriber()
        #expect(try #require(try late.take()).number == last.number)
      }
      let states = { producer.program.output.text.split(separator: "\n").map(String.init) }
      try waitUntil("the producer rests: \(states())") {
        states().last?.hasPrefix("paused") == true
      }
      // Nothing new comes, but the newest picture is still there.
      var again = try world.subscriber()
      #expect(try #require(try again.take(), "\(capture.transcript)").number != nil)
      try waitUntil("the producer works again: \(states())") {
        states().last?.hasPrefix("streaming") == true
      }
      try producer.tell("go")
      let before = try #require(try again.take().flatMap(\.number))
      try again.take { $0.number.map { $0 > before } == true }
      try capture.end(with: SIGTERM)
      producer.end()
    }
  }

  @Test func anotherSizeIsAnotherFormat() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer("server")
      defer { portal.end() }
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      try subscriber.take { $0.width == 64 && $0.number != nil }
      try producer.tell("size 96x80")
      try subscriber.take { $0.width == 96 && $0.height == 80 && $0.number != nil }
      try producer.tell("size 32x16")
      try subscriber.take { $0.width == 32 && $0.height == 16 && $0.number != nil }
      try capture.end(with: SIGTERM)
      producer.end()
    }
  }

  /// The stream of a lost node is paused, and its choice restored without a dialog.
  @Test func lostNodePausesTheStreamUntilItIsBack() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      defer { portal.end() }
      var producer = try world.producer()
      let capture = try world.capture()
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      try subscriber.take { $0.number != nil }
      for round in 1...2 {
        try producer.program.end(with: SIGKILL)
        try waitUntil("the pause is told, only \(events.all)\n\(capture.transcript)") {
          _ = try subscriber.take(within: .milliseconds(20))
          return events.count(.paused(.unavailable)) == round
        }
        producer = try world.producer()
        try subscriber.take { $0.number != nil }
        #expect(events.count(.resumed) == round, "\(events.all)")
      }
      #expect(portal.program.output.text.components(separatedBy: "dialog").count == 2)
      #expect(capture.errors.text.contains("no picture is published until it is back"))
      try capture.end(with: SIGTERM)
      producer.end()
    }
  }

  /// Who ends the sharing in the desktop does not want it back.
  @Test func closedSessionEndsTheCapture() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      try subscriber.take { $0.number != nil }
      try portal.tell("close")
      let result = try capture.finish()
      #expect(result.status == .exited(1), "\(result)")
      #expect(result.errors.contains("the desktop ended the sharing"), "\(result.errors)")
      // Without any subscriber too.
      let second = try world.capture()
      try portal.program.waitForOutput("restored")
      try second.waitForErrors("waiting for a subscriber")
      try portal.tell("close")
      #expect(try second.finish().errors.contains("the desktop ended the sharing"))
    }
  }

  /// Of a compositor without a protocol for captures, as GNOME's, the portal captures the screen.
  @Test(arguments: ["wayland", "screen"])
  func portalTakesThePlaceOfTheProtocolsThatACompositorLacks(source: String) throws {
    try withWatchdog {
      let world = try PortalWorld()
      let socket = world.root.file("wayland-9")
      let compositor = try RunningProgram("FakeCompositor", [socket, "version=0"])
      try compositor.waitForOutput("listens")
      let portal = try world.portal()
      let producer = try world.producer()
      defer {
        compositor.process.end(with: SIGTERM)
        portal.end()
        producer.end()
      }
      let display = ["WAYLAND_DISPLAY": socket]
      let capture = try world.capture(source: source, environment: display)
      var subscriber = try world.subscriber()
      try subscriber.take { $0.number != nil }
      #expect(capture.errors.text.contains("lacks the protocol zwlr_screencopy_manager_v1"))
      #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
      // What the portal cannot do is refused, and so is what only another one can.
      try world.expectFailure(
        "the source portal", "--size", "10x10+0+0", source: source, environment: display)
      try world.expectFailure(
        "lacks the protocol", source: "wayland:FAKE-1", environment: display)
      #expect(portal.program.output.text.components(separatedBy: "dialog").count == 2)
    }
  }

  @Test func cursorAndKindOfSourceReachThePortal() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal("decline")
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      for (source, arguments, wanted) in [
        ("portal", [], "dialog 1 2"), ("portal:window", ["--no-cursor"], "dialog 2 1"),
        ("portal:virtual", ["--cursor"], "dialog 4 2"),
      ] {
        let capture = try RunningProgram(
          "framebus-capture",
          [source, "--root", world.root.path, "--group", "org.example.test"] + arguments,
          environment: world.session.environment)
        #expect(try capture.finish().errors.contains("the user declined"))
        #expect(portal.program.output.text.contains(wanted), "\(portal.program.output.text)")
      }
    }
  }
}

extension Picture {
  var whole: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
}
