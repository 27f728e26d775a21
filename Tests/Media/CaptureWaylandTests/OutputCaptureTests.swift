import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Captures of sway's outputs, as a subscriber and an independent program see them.
@Suite(.enabled(if: SwaySession.isAvailable, "needs sway: scripts/setup --test"))
struct OutputCaptureTests {
  @Test func framesEqualAnIndependentGrab() throws {
    try withWorld("322x243") { world in
      try world.session.showWindow("ff00ff", x: 20, y: 30, width: 100, height: 60)
      let capture = try world.capture("--no-cursor")
      var subscriber = try world.subscriber()
      // The window is drawn at its place, and then rests.
      let frame = try subscriber.take {
        guard $0[60, 60] == 0xFF00FF && $0[10, 10] == 0x204060 else { return false }
        return try $0.equals(world.session.independentGrab())
      }
      #expect(frame.width == 322 && frame.height == 243 && frame.orientation == .up)
      try capture.end(with: SIGTERM)
    }
  }

  @Test func unchangedOutputPublishesNothingAndAChangeHasItsArea() throws {
    try withWorld { world in
      let capture = try world.capture("--fps", "60")
      var subscriber = try world.subscriber()
      let first = try subscriber.take { $0[10, 10] == 0x204060 }
      #expect(first.damage.isFull)
      while try subscriber.take(within: .milliseconds(500)) != nil {}
      #expect(try subscriber.take(within: .milliseconds(500)) == nil)
      try world.session.showWindow("ff00ff", x: 100, y: 80, width: 60, height: 40)
      try subscriber.take { $0[130, 100] == 0xFF00FF && $0[90, 70] == 0x204060 }
      while try subscriber.take(within: .milliseconds(500)) != nil {}
      try world.session.command("[app_id=\"sample\"]", "move absolute position 110 90")
      let changed = try subscriber.take { $0[165, 125] == 0xFF00FF }
      #expect(!changed.damage.isFull)
      // Both places of the window; how closely they are named is the compositor's affair.
      let area = changed.damage.rects.reduce(0) { $0 + $1.width * $1.height }
      #expect(area < 320 * 240 / 2, "\(changed.damage.rects)")
      let result = try capture.end(with: SIGINT)
      #expect(result.status == .exited(130))
    }
  }

  @Test func newSubscriberReceivesAFrameWithoutAChange() throws {
    try withWorld { world in
      let capture = try world.capture()
      var first = try world.subscriber()
      try first.take { $0[10, 10] == 0x204060 }
      while try first.take(within: .milliseconds(500)) != nil {}
      // The compositor is being waited for: the frame comes although nothing changes.
      var second = try world.subscriber()
      try second.take { $0[10, 10] == 0x204060 }
      try capture.end(with: SIGTERM)
    }
  }

  @Test func newSizeContinuesTheStream() throws {
    try withWorld { world in
      let capture = try world.capture()
      var subscriber = try world.subscriber()
      try subscriber.take { $0.width == 320 && $0.height == 240 }
      for size in ["640x480", "200x100", "800x600"] {
        try world.session.command(
          "output", SwaySession.firstOutput, "mode", "--custom", size + "@60Hz")
        // The first frames of the new size may be older than its background.
        try subscriber.take {
          "\($0.width)x\($0.height)" == size && $0[$0.width - 1, $0.height - 1] == 0x204060
        }
      }
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: ["90", "180", "270", "flipped", "flipped-90", "flipped-180", "flipped-270"])
  func turnedOutputIsUprightAtTheReceiver(transform: String) throws {
    try withWorld { world in
      try world.session.command("output", SwaySession.firstOutput, "transform", transform)
      try world.session.showWindow("ff00ff", x: 10, y: 20, width: 60, height: 40)
      let capture = try world.capture("--no-cursor")
      var subscriber = try world.subscriber()
      let frame = try subscriber.take {
        $0[15, 25] == 0xFF00FF && $0[65, 55] == 0xFF00FF && $0[5, 15] == 0x204060
          && $0[75, 65] == 0x204060
      }
      let isTurned = transform.hasSuffix("90") || transform.hasSuffix("270")
      #expect(frame.width == (isTurned ? 240 : 320) && frame.orientation != .up)
      #expect(try frame.equals(world.session.independentGrab()))
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [("2", "normal"), ("1.6", "180")])
  func regionIsInPixelsOfTheUprightPicture(scale: String, transform: String) throws {
    try withWorld("640x480") { world in
      try world.session.command("output", SwaySession.firstOutput, "scale", scale)
      try world.session.command("output", SwaySession.firstOutput, "transform", transform)
      let factor = try #require(Double(scale))
      try world.session.showWindow("ff00ff", x: 20, y: 30, width: 50, height: 40)
      let origin = (Int(20 * factor), Int(30 * factor))
      let capture = try world.capture(
        "--no-cursor", "--size", "160x120+\(origin.0)+\(origin.1)")
      var subscriber = try world.subscriber()
      // The window begins where the region does, and ends inside.
      let frame = try subscriber.take { $0[2, 2] == 0xFF00FF && $0[155, 115] == 0x204060 }
      #expect((159...162).contains(frame.width) && (119...122).contains(frame.height))
      #expect(frame[Int(50 * factor) - 3, Int(40 * factor) - 3] == 0xFF00FF)
      try capture.end(with: SIGTERM)
    }
  }

  @Test func regionOfATurnedOutputIsRefused() throws {
    try withWorld { world in
      try world.session.command("output", SwaySession.firstOutput, "transform", "90")
      let reason = try world.failure("--size", "20x20+10+10")
      #expect(reason.contains("without --size"), "\(reason)")
    }
  }

  @Test func anotherOutputIsNamed() throws {
    try withWorld { world in
      try world.session.command("create_output")
      try world.session.command("output", "HEADLESS-2", "mode", "--custom", "200x160@60Hz")
      let capture = try world.capture(source: "wayland:HEADLESS-2")
      var subscriber = try world.subscriber()
      try subscriber.take { $0.width == 200 && $0.height == 160 }
      let list = try run(
        "framebus", ["screens", "--json"], environment: world.session.environment)
      #expect(list.output.contains("\"wayland:HEADLESS-1\""), "\(list.output)\(list.errors)")
      #expect(list.output.contains("\"wayland:HEADLESS-2\""))
      try capture.end(with: SIGTERM)
    }
  }

  /// More subscribers than the first pool of such large slots has room for: another pool is made,
  /// while the capture waits for the compositor.
  @Test func furtherSubscribersOfALargeOutputAreServed() throws {
    try withWorld("1920x1080") { world in
      let capture = try world.capture()
      for count in 1...4 {
        var subscribers: [WorldSubscriber] = []
        for _ in 0..<count { subscribers.append(try WorldSubscriber(world)) }
        for subscriber in subscribers {
          try subscriber.subscriber.take { $0.width == 1920 && $0[10, 10] == 0x204060 }
        }
      }
      try capture.end(with: SIGTERM)
    }
  }
}

/// A subscriber that an array can hold.
private final class WorldSubscriber {
  var subscriber: Subscriber

  init(_ world: WaylandWorld) throws { subscriber = try world.subscriber() }
}
