import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// The group's setting `protectedWindows`, which another process changes during a capture.
@Suite struct ProtectedSettingTests {
  /// Without protection at its start, a capture lets the server write into the slots.
  @Test(arguments: [("shm", false), ("shm", true), ("socket", false)])
  func windowIsBlackInEachFrameAfterItsRuleIsWritten(backend: String, isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let window = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      let capture = try world.capture("--no-cursor", "--backend", backend, "--fps", "120")
      var subscriber = try world.subscriber()
      for round in 0..<2 {
        _ = try subscriber.take { $0.magentaCount == 60 * 40 }
        try world.protectBySetting(#"["secret"]"#)
        let writtenNs = monotonicNowNs()
        for step in 0..<5 {
          // A picture that does not change is published once, perhaps before the writer has ended.
          try window.perform("move \(40 + 10 * step) 60")
          let frame = try subscriber.take(capturedAfterNs: writtenNs)
          #expect(frame.shows(only: [0, 0x112233]), "frame \(step) of round \(round)")
          #expect(frame.count(of: 0) >= 60 * 40)
        }
        try world.protectBySetting("[]")
      }
      _ = try subscriber.take { $0.magentaCount == 60 * 40 }
      _ = desktop
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test(arguments: [false, true])
  func windowOfAnOptionStaysBlackWhenTheSettingIsRemoved(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let option = try ShownWindow("option", "60x40+20+30", on: world.screen)
      let setting = try ShownWindow("setting", "50x40+120+30", on: world.screen)
      try world.protectBySetting(#"["setting", "option"]"#)
      let capture = try world.capture("--no-cursor", "--protect", "option")
      var subscriber = try world.subscriber(start: .oldest)
      #expect(try subscriber.take()?.magentaCount == 0)
      try world.removeProtectionSetting()
      _ = try subscriber.take {
        #expect([0, 50 * 40].contains($0.magentaCount))
        return $0.magentaCount == 50 * 40
      }
      withExtendedLifetime((option, setting, desktop)) {}
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  /// Subscribers can read the pool at any time.
  @Test(arguments: [false, true])
  func pixelsOfAWindowThatIsNamedBeforeItIsShownNeverReachThePool(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let capture = try world.capture("--no-cursor", "--backend", "shm", "--fps", "60")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.pixel(5, 5) == 0x112233 }
      try world.protectBySetting(#"["secret"]"#)
      let window = try ShownWindow("secret", "160x120+20+30", on: world.screen)
      _ = try subscriber.take { $0.count(of: 0) >= 160 * 120 }
      let facts = ProcessFacts(capture.processID)
      let isPool = { (line: String) in line.contains("framebus-pool") }
      // The background is there, which shows that this reads the right memory.
      #expect(try facts.memoryHolds(Data([0x33, 0x22, 0x11]), where: isPool))
      for step in 0..<3 {
        try window.perform("move \(20 + step) 30")
        #expect(try !facts.memoryHolds(Data([0xFF, 0x00, 0xFF]), where: isPool))
      }
      _ = desktop
      try capture.end(with: SIGTERM)
    }
  }

  /// Nobody can tell what a malformed setting was to hide.
  @Test(arguments: [false, true])
  func malformedSettingPausesTheStreamUntilItIsMended(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let window = try ShownWindow("secret", "60x40+20+30", on: world.screen)
      let capture = try world.capture("--no-cursor")
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      _ = try subscriber.take { $0.magentaCount == 60 * 40 }
      try world.protectBySetting(#""secret""#)
      try events.wait(for: .paused(.unavailable)) { _ = try subscriber.take(within: $0) }
      try capture.waitForErrors("no frame is published until this is mended")
      try capture.waitForErrors("protectedWindows is malformed")
      try world.paint("#112233")
      try world.protectBySetting(#"["secret"]"#)
      let frame = try subscriber.take { _ in true }
      #expect(frame.magentaCount == 0 && frame.pixel(5, 5) == 0x112233)
      #expect(events.ofPauses == [.paused(.unavailable), .resumed])
      withExtendedLifetime((window, desktop)) {}
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test(arguments: [false, true])
  func windowsThatAreShownOnPurposeStayVisible(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let window = try ShownWindow("secret", "60x40+20+30", isMarked: true, on: world.screen)
      let capture = try world.capture("--no-cursor", "--no-protect")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.magentaCount == 60 * 40 }
      try world.protectBySetting(#"["secret"]"#)
      try world.paint("#112233")
      _ = try subscriber.take {
        #expect($0.magentaCount == 60 * 40)
        return $0.pixel(5, 5) == 0x112233
      }
      withExtendedLifetime((window, desktop)) {}
      try capture.end(with: SIGTERM)
    }
  }
}

extension ScreenWorld {
  private var location: [String] { ["--root", root.path, "--group", "\(group.id)"] }

  /// Writes the group's setting `protectedWindows`, as JSON.
  func protectBySetting(_ names: String) throws {
    let command = ["defaults", "write", "\(group.id)", "protectedWindows", "--type", "json", names]
    try output(of: pathOfProgram("framebus"), command + location)
  }

  fileprivate func removeProtectionSetting() throws {
    let command = ["defaults", "remove", "\(group.id)", "protectedWindows"]
    try output(of: pathOfProgram("framebus"), command + location)
  }
}

extension Subscriber {
  /// The next frame that was captured at or after a moment.
  fileprivate mutating func take(capturedAfterNs moment: UInt64) throws -> TakenFrame {
    while case .frame(let lease) = try next(until: .after(.seconds(30))) {
      if lease.metadata.capturedAtNs >= moment { return TakenFrame(lease) }
    }
    throw HarnessError("no such frame came")
  }
}
