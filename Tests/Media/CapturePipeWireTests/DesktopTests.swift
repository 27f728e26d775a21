import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// The portals of real desktops, captured by the user who runs them, and read by another one.
@Suite(.serialized) struct DesktopTests {
  /// A desktop, and a group in which its user may capture.
  private struct World {
    let desktop: DesktopSession
    let root: TemporaryRoot
    let group: AppGroup

    let size: (width: Int, height: Int)

    init(_ kind: DesktopSession.Desktop, _ width: Int, _ height: Int) throws {
      size = (width, height)
      desktop = try DesktopSession(kind, size: "\(width)x\(height)")
      root = try TemporaryRoot(mode: 0o755)
      let id = try GroupID("org.example.test")
      group = try AppGroup.create(id, root: root.path)
      if let user = desktop.user {
        try AppGroup.grant(.capture, to: .user(user.uid), in: id, root: root.path)
      }
    }

    func capture(_ source: String, _ arguments: String...) throws -> RunningProgram {
      try desktop.start(
        "framebus-capture",
        [source, "--root", root.path, "--group", "org.example.test"] + arguments)
    }

    func subscriber(within limit: Duration = .seconds(60)) throws -> Subscriber {
      var options = SubscriberOptions()
      options.start = .newest
      return try Subscriber(
        StreamName("screen"), in: group, options: options,
        waitingForPublisherUntil: .after(limit))
    }
  }

  /// Colours are exact, numbers only rise, and nothing is seen before it was drawn.
  private func expectColors(
    _ world: World, _ capture: RunningProgram, _ subscriber: consuming Subscriber
  ) throws {
    var last: UInt32 = 0
    var agesNs: [UInt64] = []
    while agesNs.count < 20 {
      let picture = try subscriber.take()
      let seenNs = monotonicNowNs()
      let shown = try #require(picture, "\(capture.transcript)\n\(world.desktop.transcript)")
      #expect((shown.width, shown.height) == world.size)
      // What the compositor shows before the window is there.
      guard let color = shown.number, color >> 16 == 0x12 else {
        #expect(agesNs.isEmpty, "a picture of two moments after \(last)")
        continue
      }
      // An unchanged picture may come again.
      #expect(color >= last)
      if color == last { continue }
      last = color
      let drawnNs = try #require(try world.desktop.drawn()[color], "\(color) was never drawn")
      #expect(seenNs > drawnNs)
      agesNs.append(seenNs &- drawnNs)
    }
    print("age of a picture: \(agesNs.sorted()[agesNs.count / 2] / 1000) µs, the median")
  }

  @Test(
    .enabled(
      if: DesktopSession.missing(for: .sway) == nil,
      "needs \(DesktopSession.missing(for: .sway) ?? ""): scripts/setup --test"))
  func swaysPortalGivesItsOutput() throws {
    try withWatchdog {
      let world = try World(.sway, 320, 240)
      let client = try world.desktop.showColors()
      let capture = try world.capture("portal", "--no-cursor")
      try expectColors(world, capture, world.subscriber())
      #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
      client.process.end(with: SIGTERM)
    }
  }

  /// mutter alone, without GNOME Shell, with GNOME's portal, in whose dialog the test clicks.
  @Test(
    .enabled(
      if: DesktopSession.missing(for: .gnome) == nil,
      "needs \(DesktopSession.missing(for: .gnome) ?? ""): scripts/setup --test"))
  func gnomesPortalGivesItsMonitorAfterItsDialog() throws {
    try withWatchdog {
      let world = try World(.gnome, 640, 480)
      let client = try world.desktop.showColors()
      let capture = try world.capture("portal", "--no-cursor")
      try expectColors(world, capture, answered(world, capture))
      #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
      client.process.end(with: SIGTERM)
    }
  }

  /// Clicks until the capture publishes. A click without a dialog does nothing.
  private func answered(_ world: World, _ capture: RunningProgram) throws -> Subscriber {
    let deadline = Deadline.after(.seconds(90))
    while !deadline.isPast, capture.process.status == nil {
      try world.desktop.agree()
      if let subscriber = try? world.subscriber(within: .seconds(2)) { return subscriber }
    }
    throw HarnessError("no stream: \(capture.transcript)\n\(world.desktop.transcript)")
  }

  /// GNOME's portal keeps the choice, and the token restores it without a dialog. Nothing changes
  /// on the screen, which mutter draws once.
  @Test(
    .enabled(
      if: DesktopSession.missing(for: .gnome) == nil,
      "needs \(DesktopSession.missing(for: .gnome) ?? ""): scripts/setup --test"))
  func gnomesPortalRestoresTheChoiceOnAStillScreen() throws {
    try withWatchdog {
      let desktop = try DesktopSession(.gnome, size: "640x480")
      let place = ["--root", desktop.home + "/root", "--group", "org.example.test"]
      let made = try desktop.start(
        "framebus", ["group", "create", "--root", desktop.home + "/root", "org.example.test"]
      ).finish()
      #expect(made.status == .exited(0), "\(made.errors)")
      for name in ["first", "second"] {
        let capture = try desktop.start("framebus-capture", ["portal"] + place)
        let deadline = Deadline.after(.seconds(90))
        var isTaken = false
        var errors = ""
        while !isTaken, !deadline.isPast, capture.process.status == nil {
          // The second one is not asked.
          if name == "first" { try desktop.agree() }
          let picture = desktop.home + "/\(name).png"
          let result =
            try desktop.start("framebus", ["snapshot", "screen", picture] + place).finish()
          (isTaken, errors) = (result.status.isSuccess, result.errors)
        }
        #expect(isTaken, "\(name): \(errors)\(capture.transcript)\n\(desktop.transcript)")
        #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
        let size = try output(of: "identify", ["-format", "%wx%h", desktop.home + "/\(name).png"])
        #expect(size == "640x480")
      }
    }
  }
}
