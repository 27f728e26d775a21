import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct ScreenErrorTests {
  /// Runs a capture that must fail, and returns its error line.
  private func failure(of program: RunningProgram) throws -> String {
    let result = try program.finish()
    #expect(result.status == .exited(1))
    #expect(result.output.isEmpty)
    // After a second, a status line says that nobody subscribes.
    let lines = result.errors.split(separator: "\n").filter { !$0.hasPrefix("stream ") }
    #expect(lines.count == 1, "\(result.errors)")
    return String(lines.first ?? "")
  }

  @Test func unreachableDisplayIsNamed() throws {
    let root = try TemporaryRoot()
    let line = try failure(
      of: RunningProgram("framebus-capture", ["screen:4094", "--root", root.path]))
    #expect(line.contains("cannot connect to the X display :4094"))
  }

  @Test func missingDisplayErrorSaysHowToNameOne() throws {
    let root = try TemporaryRoot()
    let line = try failure(
      of: RunningProgram(
        "framebus-capture", ["screen", "--root", root.path], environment: ["DISPLAY": nil]))
    #expect(line.contains("DISPLAY is not set"))
  }

  @Test func xServerOfAWaylandSessionIsRefusedWithTheAlternative() throws {
    let root = try TemporaryRoot()
    // A real compositor and its real X server; the environment names neither.
    let compositor = try RunningProgram(
      "weston",
      ["--backend=headless-backend.so", "--xwayland", "--socket=wayland", "--idle-time=0"],
      environment: ["XDG_RUNTIME_DIR": root.path])
    defer { compositor.process.end(with: SIGTERM) }
    let announcement = "xserver listening on display "
    try compositor.waitForErrors(announcement + ":")
    let words = compositor.errors.text.components(separatedBy: announcement)[1]
    let display = try #require(words.split(whereSeparator: \.isWhitespace).first)
    let line = try failure(
      of: RunningProgram(
        "framebus-capture", ["screen\(display)", "--root", root.path],
        environment: ["WAYLAND_DISPLAY": nil]))
    #expect(line.contains("Wayland") && line.contains("capture portal") && line.contains("--force"))
  }

  @Test(arguments: [8, 16])
  func screenOfFewColoursIsRefused(depth: Int) throws {
    let world = try ScreenWorld(depth: depth)
    #expect(try failure(of: world.capture()).contains("has \(depth) bits per pixel"))
  }

  @Test func missingSharedMemoryErrorNamesTheSocketBackend() throws {
    let world = try ScreenWorld(options: ["-extension", "MIT-SHM"])
    for option in [["--backend", "shm"], ["--isolate"]] {
      let line = try failure(of: world.capture(option, window: nil))
      #expect(line.contains("MIT-SHM") && line.contains("--backend socket"))
    }
  }

  /// A server that is reached over a network has MIT-SHM, but cannot map this process's memory.
  @Test(arguments: [false, true], [[], ["--protect", "marked"]])
  func captureWithoutSharedMemoryUsesTheSocketAndSaysSo(isRemote: Bool, options: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld(
        options: isRemote ? ["-listen", "tcp", "-ac"] : ["-extension", "MIT-SHM"])
      try world.paint("#112233")
      let source = "screen:" + (isRemote ? "127.0.0.1" : "") + world.screen.display
      let capture = try RunningProgram(
        "framebus-capture",
        [source, "--root", world.root.path, "--group", "org.example.test"] + options,
        environment: world.screen.environment)
      var subscriber = try world.subscriber()
      _ = try subscriber.take { $0.pixel(5, 5) == 0x112233 }
      try capture.waitForErrors("frames come over its socket")
      try capture.end(with: SIGTERM)
    }
  }

  @Test func regionOutsideTheScreenIsRefused() throws {
    let world = try ScreenWorld()
    #expect(try failure(of: world.capture("--size", "10x10+320+0")).contains("is outside the"))
  }

  @Test func deadServerEndsTheCaptureAndSubscribersSeeTheFailure() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture("--quiet")
      var subscriber = try world.subscriber()
      #expect(try subscriber.take() != nil)
      world.screen.server.process.end(with: SIGKILL)
      #expect(try failure(of: capture).contains("went away"))
      #expect(try subscriber.end() == .failed)
    }
  }

  @Test func secondPublisherOfTheStreamIsRefused() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let capture = try world.capture()
      let subscriber = try world.subscriber()
      #expect(try failure(of: world.capture()).contains("already has a publisher"))
      _ = subscriber.receivedCount
      try capture.end(with: SIGTERM)
    }
  }
}
