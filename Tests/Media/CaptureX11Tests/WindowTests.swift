import Foundation
import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// `framebus capture window:ID`: one window, whatever covers it.
@Suite struct WindowTests {
  private static let cover: UInt32 = 0x112233

  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"], ["--isolate"]])
  func windowIsCapturedAloneWhereOthersCoverIt(backend: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor"] + backend, window: window)
      var subscriber = try world.subscriber(start: .oldest)
      let first = try subscriber.take { _ in true }
      #expect(first.width == 60 && first.height == 40 && first.magentaCount == 60 * 40)
      let cover = try ShownWindow("two", "200x200+0+0", color: "112233", on: world.screen)
      let grab = try world.independentGrab(width: 100, height: 100)
      #expect(!grab.contains(0xFF))
      var newcomer = try world.subscriber(start: .next)
      #expect(try newcomer.take()?.magentaCount == 60 * 40)
      // It is partly outside the screen, and in front again.
      try window.perform("move -20 230")
      var last = try world.subscriber(start: .next)
      #expect(try last.take()?.magentaCount == 60 * 40)
      try cover.close()
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test func resizedWindowContinuesWithCompletePictures() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor", "--fps", "60"], window: window)
      var subscriber = try world.subscriber(start: .oldest)
      for (width, height) in [(90, 70), (31, 17), (200, 150)] {
        try window.perform("resize \(width) \(height)")
        _ = try subscriber.take { frame in
          #expect(frame.magentaCount == frame.width * frame.height)
          return frame.width == width && frame.height == height
        }
      }
      try capture.end(with: SIGTERM)
    }
  }

  /// Any client may change it, at any time.
  @Test func changingBorderDoesNotEndTheCapture() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor", "--fps", "60"], window: window)
      var subscriber = try world.subscriber(start: .oldest)
      _ = try subscriber.take { _ in true }
      try world.changeBorders(of: window)
      try window.perform("resize 90 70")
      _ = try subscriber.take { frame in
        #expect([[60, 40], [90, 70]].contains([frame.width, frame.height]))
        return frame.width == 90 && frame.magentaCount == 90 * 70
      }
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test func windowUnderAWindowManagerIsCapturedUnchanged() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = try Desktop(on: world.screen)
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let other = try ShownWindow("two", "200x200+0+0", color: "112233", on: world.screen)
      try desktop.bringToFront(other)
      let capture = try world.capture(["--no-cursor"], window: window)
      var subscriber = try world.subscriber()
      let frame = try subscriber.take { _ in true }
      #expect(frame.magentaCount == 60 * 40)
      try window.perform("resize 90 70")
      _ = try subscriber.take { $0.width == 90 && $0.magentaCount == 90 * 70 }
      try capture.end(with: SIGTERM)
    }
  }

  @Test func hiddenWindowPausesAndShownWindowContinues() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor"], window: window)
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      _ = try subscriber.take { _ in true }
      try window.perform("hide")
      try events.wait(for: .paused(.unavailable)) { _ = try subscriber.take(within: $0) }
      try window.perform("show")
      #expect(try subscriber.take()?.magentaCount == 60 * 40)
      // Shown again, it is not drawn at once.
      #expect(
        events.ofPauses.filter { $0 != .paused(.transition) } == [.paused(.unavailable), .resumed])
      try capture.end(with: SIGTERM)
    }
  }

  /// A program draws after its window has another size; until then the server shows white.
  @Test(arguments: [[], ["--isolate"]])
  func noFrameShowsAWindowThatIsNotDrawnYet(options: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor", "--fps", "120"] + options, window: window)
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      _ = try subscriber.take { _ in true }
      for width in [90, 70, 110] {
        try window.perform("redraw \(width) 50")
        _ = try subscriber.take { frame in
          #expect(frame.magentaCount == frame.width * frame.height)
          return frame.width == width
        }
      }
      #expect(events.ofPauses.starts(with: [.paused(.transition), .resumed]))
      try capture.end(with: SIGTERM)
    }
  }

  @Test func closedWindowEndsTheStreamWithoutFailure() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--json"], window: window)
      var subscriber = try world.subscriber()
      _ = try subscriber.take { _ in true }
      try window.close()
      #expect(try subscriber.end() == .ended)
      let result = try capture.finish()
      #expect(result.status == .exited(0))
      #expect(result.output.contains(#""end":"ended""#))
    }
  }

  @Test(arguments: ["one", "marked"], [false, true])
  func protectedWindowIsBlackWhenCapturedAlone(rule: String, isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      if rule == "marked" { try window.perform("mark") }
      let capture = try world.capture(["--no-cursor", "--protect", rule], window: window)
      var subscriber = try world.subscriber(start: .oldest)
      #expect(try subscriber.take()?.count(of: 0) == 60 * 40)
      try window.perform("resize 90 70")
      _ = try subscriber.take { frame in
        #expect(frame.magentaCount == 0)
        return frame.width == 90
      }
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [false, true])
  func protectedWindowInFrontHidesNothingOfAnother(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let secret = try ShownWindow("secret", "200x200+0+0", color: "445566", on: world.screen)
      let capture = try world.capture(
        ["--no-cursor", "--protect", "secret", "--protect", secret.id], window: window)
      var subscriber = try world.subscriber()
      #expect(try subscriber.take()?.magentaCount == 60 * 40)
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  @Test func inputOnlyWindowIsRefused() throws {
    let world = try ScreenWorld()
    let id = try world.makeInputWindow()
    let result = try run(
      "framebus-capture",
      ["window:\(id)", "--root", world.root.path, "--group", "org.example.test"],
      environment: world.screen.environment)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("the window \(id) of") && result.errors.contains("only takes"))
  }

  @Test func missingWindowIsNamedInTheError() throws {
    let world = try ScreenWorld()
    let result = try run(
      "framebus-capture",
      ["window:0x7ffffff", "--root", world.root.path, "--group", "org.example.test"],
      environment: world.screen.environment)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("has no window 0x7ffffff") && result.errors.contains("xwininfo"))
  }
}
