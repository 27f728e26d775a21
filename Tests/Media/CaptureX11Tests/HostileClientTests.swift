import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Other clients of the captured display that do what no honest one does
/// (Tests/Tools/hostile_windows.py).
@Suite struct HostileClientTests {
  private static let cyan: UInt32 = 0x00FFFF

  /// A hostile client with a role, which continues after a line of input.
  final class Client {
    let program: RunningProgram
    private let input: Descriptor

    init(_ role: [String], on screen: VirtualScreen) throws {
      let pipe = try OneWayPipe()
      program = try RunningProgram(
        "/usr/bin/python3", [tool("hostile_windows.py")] + role, environment: screen.environment,
        input: .descriptor(pipe.readEnd.number))
      input = pipe.takeWriteEnd()
    }

    var isRunning: Bool { program.process.status == nil }
    func waitUntilReady() throws { try program.waitForOutput("ready") }
    func resume() throws { try writeFully([0x0A], to: input.number) }

    /// The number of the window that it shows.
    var windowID: String { String(lines.first?.split(separator: " ").last ?? "") }
    private var lines: [Substring] { program.output.text.split(separator: "\n") }

    /// Sends a command, and waits until the X server has carried it out.
    func perform(_ command: String) throws {
      let answers = lines.count
      try writeFully(Array((command + "\n").utf8), to: input.number)
      try waitUntil("the client answers") { lines.count > answers }
    }

    /// The last line that it printed.
    var lastLine: String { String(lines.last ?? "") }
  }

  /// Each frame is looked at by a subscriber that knows nothing but the clock.
  @Test(arguments: [(["--backend", "socket"], true), (["--isolate"], false)])
  func noFrameShowsAWindowOnceItIsMarked(backend: [String], isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let capture = try world.capture(
        ["--no-cursor", "--protect", "marked", "--fps", "120"] + backend, window: nil)
      var subscriber = try world.subscriber(start: .oldest)
      _ = try subscriber.take { _ in true }
      var shown: [UInt64] = []
      var rounds: [[UInt64]] = []
      var count = 0
      while rounds.count <= 5 || count <= 20 {
        let client = try Client(["race", "2"], on: world.screen)
        while client.isRunning {
          guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(1)))
          else { continue }
          count += 1
          let frame = TakenFrame(lease)
          #expect(frame.count(of: Self.cyan) == 0)
          if frame.magentaCount > 0 { shown.append(lease.metadata.capturedAtNs) }
        }
        rounds += client.program.output.text.split(separator: "\n").map {
          $0.split(separator: " ").compactMap { UInt64($0) }
        }
      }
      for round in rounds where round.count == 2 {
        #expect(!shown.contains { round[0] < $0 && $0 < round[1] })
      }
      _ = desktop
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test(arguments: [false, true])
  func aMarkedWindowIsFoundHoweverDeepItLies(isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      let capture = try world.capture("--no-cursor", "--protect", "marked")
      var subscriber = try world.subscriber(start: .oldest)
      let client = try Client(["deep", "200"], on: world.screen)
      try client.waitUntilReady()
      _ = try subscriber.take {
        #expect($0.count(of: Self.cyan) == 0)
        return $0.pixel(30, 30) == 0 && $0.pixel(80, 70) == 0x445566
      }
      try client.resume()
      _ = desktop
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test func aThousandWindowsAndAMovingOneDelayNoFrame() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let capture = try world.capture("--no-cursor", "--protect", "marked")
      var subscriber = try world.subscriber()
      let many = try Client(["many", "1000"], on: world.screen)
      try many.waitUntilReady()
      let unrest = try Client(["unrest"], on: world.screen)
      try unrest.waitUntilReady()
      try world.paint("#223344")
      _ = try subscriber.take { $0.pixel(319, 239) == 0x223344 }
      unrest.program.process.end(with: SIGKILL)
      try many.resume()
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  /// The picture is right only if nothing moved meanwhile.
  @Test(arguments: [(["--backend", "socket"], false), (["--isolate"], true)])
  func aMarkedWindowThatNeverRestsHoldsUpNothing(backend: [String], isManaged: Bool) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let desktop = isManaged ? try Desktop(on: world.screen) : nil
      try world.paint("#112233")
      let capture = try world.capture(
        ["--no-cursor", "--protect", "marked", "--fps", "60"] + backend, window: nil)
      var subscriber = try world.subscriber(start: .oldest)
      let unrest = try Client(["unrest", "marked"], on: world.screen)
      try unrest.waitUntilReady()
      for color: UInt32 in [0x223344, 0x334455, 0x445566] {
        try world.paint("#" + String(color, radix: 16))
        _ = try subscriber.take {
          #expect($0.count(of: Self.cyan) == 0)
          return $0.pixel(319, 239) == color && $0.pixel(130, 120) == 0
        }
      }
      _ = desktop
      unrest.program.process.end(with: SIGKILL)
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"], ["--protect", "marked"]])
  func aCapturedWindowThatNeverRestsIsSeen(options: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor", "--fps", "60"] + options, window: window)
      let unrest = try Client(["unrest", window.id], on: world.screen)
      try unrest.waitUntilReady()
      // To each that is new a frame is due.
      for _ in 0..<10 {
        var subscriber = try world.subscriber(start: .next)
        #expect(try subscriber.take()?.magentaCount == 60 * 40)
      }
      unrest.program.process.end(with: SIGKILL)
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  /// What is kept of windows goes with them.
  @Test func windowsThatComeAndGoTakeNoMemory() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture(
        "--no-cursor", "--protect", "marked", "--protect", "secret", "--fps", "60")
      var subscriber = try world.subscriber()
      _ = try subscriber.take { _ in true }
      let facts = ProcessFacts(capture.processID)
      func comeAndGo() throws {
        for _ in 0..<3 {
          let client = try Client(["many", "2000"], on: world.screen)
          try client.waitUntilReady()
          try client.resume()
          try client.program.finish()
          try world.paint("#112233")
          try world.paint("#445566")
          _ = try subscriber.take { $0.pixel(319, 239) == 0x445566 }
        }
      }
      try comeAndGo()
      let residentBytes = try facts.residentBytes
      let descriptorCount = try facts.descriptorCount
      try comeAndGo()
      let grownBytes = try facts.residentBytes - residentBytes
      #expect(grownBytes < 4 << 20)
      #expect(try facts.descriptorCount <= descriptorCount)
      try capture.end(with: SIGTERM)
    }
  }

  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"], ["--protect", "marked"]])
  func aWindowThatChangesItsSizeWithoutEndIsCapturedOn(options: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor", "--fps", "120"] + options, window: window)
      var subscriber = try world.subscriber(start: .oldest)
      _ = try subscriber.take { _ in true }
      let facts = ProcessFacts(capture.processID)
      var figures: [(resident: Int, descriptors: Int)] = []
      for _ in 0..<3 {
        let client = try Client(["resize", window.id, "0.4"], on: world.screen)
        _ = try subscriber.take { frame in
          // A border is not part of it, and a picture of two sizes would have other colours.
          #expect(frame.magentaCount == frame.width * frame.height)
          return frame.width == 90 && frame.height == 70
        }
        try client.program.finish()
        figures.append((try facts.residentBytes, try facts.descriptorCount))
        try window.perform("resize 60 40")
      }
      // What the pool grew to in the first round is not counted. A pool may be in change just
      // then; if one were left behind at each size, there would be dozens.
      #expect(figures[2].descriptors - figures[1].descriptors < 8)
      #expect(figures[2].resident - figures[1].resident < 8 << 20)
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  @Test(arguments: [[], ["--size", "200x100+50+50"]])
  func aScreenThatChangesItsSizeWithoutEndIsCapturedOn(options: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#112233")
      let capture = try world.capture(["--no-cursor", "--fps", "120"] + options, window: nil)
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.pixel(5, 5) == 0x112233 }
      let client = try Client(["screen", "2"], on: world.screen)
      let (width, height) = options.isEmpty ? (90, 70) : (40, 20)
      _ = try subscriber.take { $0.width == width && $0.height == height }
      try client.program.finish()
      try world.resize(width: 320, height: 240)
      _ = try subscriber.take { $0.width == (options.isEmpty ? 320 : 200) }
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }

  /// The ID can belong to another program's window then, which was not selected.
  @Test func anotherWindowWithTheIdOfTheOneThatWasClosedIsNotCaptured() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor"], window: window)
      do {
        var subscriber = try world.subscriber()
        _ = try subscriber.take { _ in true }
      }
      try capture.waitForErrors("waiting for a subscriber")
      try window.close()
      let other = try ShownWindow("two", "60x40+20+30", color: "112233", on: world.screen)
      try #require(other.id == window.id)
      // The capture may have seen the end without a subscriber.
      if var subscriber = try? world.subscriber() { #expect(try subscriber.end() == .ended) }
      #expect(try capture.finish().status == .exited(0))
    }
  }

  @Test(arguments: [
    ["saver", "1"], ["cursor", "64", "1"], ["cursor", "1024", "1"], ["properties"],
  ])
  func whatElseOtherClientsDoEndsNothing(role: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture("--protect", "marked", "--fps", "120")
      var subscriber = try world.subscriber()
      let client = try Client(role, on: world.screen)
      while client.isRunning { _ = try subscriber.take(within: .milliseconds(50)) }
      #expect(try client.program.finish().status == .exited(0))
      try world.paint("#112233")
      _ = try subscriber.take { $0.pixel(319, 239) == 0x112233 }
      #expect(try capture.end(with: SIGTERM).status == .exited(0))
    }
  }
}
