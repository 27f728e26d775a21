import Foundation
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// Broadcasts that hold no terminal, and those that end by themselves.
@Suite struct DetachTests {
  private let scene: BroadcastScene

  init() throws { scene = try BroadcastScene() }

  private var location: [String] {
    ["--root", scene.root.path, "--group", "\(scene.group.id)"]
  }
  private var start: [String] {
    location + ["broadcast", "start", BroadcastScene.extensionID, "--source", scene.source]
  }

  private func waitForEnd(_ pid: Int32) throws {
    if let watch = ProcessWatch(pid) { _ = try watch.waitForEnd(until: .after(.seconds(60))) }
  }

  @Test func detachedHostHoldsNoTerminalAndStopsFromAnywhere() throws {
    try withWatchdog {
      let result = try run("framebus", start + ["--detach", "--json"])
      #expect(result.status == .exited(0), "\(result.errors)")
      let status = try scene.controller.status
      #expect(status.phase == .live)
      let session = try #require(status.session)
      #expect(result.output.contains("\"session\" : \"\(session)\""), "\(result.output)")
      let host = try #require(status.pids[.host])
      for number in 0...2 {
        let path = "/proc/\(host)/fd/\(number)"
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "/dev/null")
      }
      // Of proc(5): session and terminal, after the name in parentheses.
      let stat = try String(contentsOfFile: "/proc/\(host)/stat", encoding: .utf8)
      let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
      #expect(fields[4] == "\(host)" && fields[5] == "0", "\(stat)")
      // The broadcast runs already.
      let again = try run("framebus", start + ["--detach"])
      #expect(again.status == .exited(0) && again.output == "\(session)\n", "\(again.errors)")
      #expect(try run("framebus", location + ["broadcast", "stop"]).status.isSuccess)
      try waitForEnd(host)
      #expect(try scene.controller.status.ending == .finished)
    }
  }

  /// The terminal is closed as soon as the command has returned.
  @Test func detachedBroadcastOutlivesTheTerminalOnWhichItWasAgreedTo() throws {
    try withWatchdog {
      try output(of: "framebus", location + ["extension", "register", "--builtin", "null"])
      let result = try run(
        "/usr/bin/python3",
        [tool("type_answer.py"), "Start this broadcast?", "yes", "--"]
          + [pathOfProgram("framebus")] + location
          + ["broadcast", "start", "framebus.upload", "--source", scene.source, "--size", "64x48"]
          + ["--detach"], environment: ["PULSE_SERVER": "unix:/none"])
      #expect(result.status == .exited(0), "\(result.output)")
      let status = try scene.controller.status
      #expect(status.phase == .live, "\(status)")
      let host = try #require(status.pids[.host])
      #expect(try run("framebus", location + ["broadcast", "stop"]).status.isSuccess)
      try waitForEnd(host)
    }
  }

  @Test func commandSaysWhyTheBroadcastIsNotLive() throws {
    try withWatchdog {
      try scene.register(["connecting=the server is busy"])
      let result = try run("framebus", start + ["--detach"])
      #expect(result.status == .exited(3), "\(result.errors)")
      let why = "connecting: the server is busy; see `framebus broadcast status"
      #expect(result.errors.contains(why), "\(result.errors)")
      let status = try scene.controller.status
      let session = try #require(status.session)
      #expect(status.phase == .connecting && result.output == "\(session)\n")
      let host = try #require(status.pids[.host])
      let again = try run("framebus", start + ["--detach", "--json"])
      #expect(again.status == .exited(3) && again.errors.contains("is busy"), "\(again.errors)")
      #expect(again.output.contains("\"phase\" : \"connecting\""), "\(again.output)")
      #expect(try run("framebus", location + ["broadcast", "stop"]).status.isSuccess)
      try waitForEnd(host)
    }
  }

  @Test func errorOfTheStartReachesTheTerminal() throws {
    try withWatchdog {
      try scene.register(["fail=signIn"])
      let result = try run("framebus", start + ["--detach"])
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("error: the broadcast failed"), "\(result.errors)")
      #expect(result.output.isEmpty)
      let unknown = try run("framebus", location + ["broadcast", "start", "none", "--detach"])
      #expect(unknown.status == .exited(1))
      #expect(unknown.errors.hasPrefix("error: extension none is not registered"))
      let usage = try run("framebus", start + ["--detach", "--passphrase-fd", "5"])
      #expect(usage.status == .exited(2), "\(usage.errors)")
    }
  }

  @Test func ctrlCBeforeTheRolesRunEndsTheDetachedHost() throws {
    try withWatchdog {
      // Nothing publishes: the pipe has no writer.
      let pipe = scene.root.file("pipe")
      try output(of: "mkfifo", [pipe])
      let command = try RunningProgram(
        "framebus",
        location + ["broadcast", "start", BroadcastScene.extensionID, "--no-confine"]
          + ["--source", "y4m:\(pipe)", "--detach"])
      try command.waitForErrors("broadcast ")
      let host = try #require(try scene.controller.status.pids[.host])
      #expect(try command.end(with: Signal.interrupt).status == .exited(130))
      try waitForEnd(host)
      #expect(try scene.controller.status.phase == .finished)
    }
  }

  @Test func broadcastEndsAfterItsDurationUnderTheNextHostToo() throws {
    try withWatchdog {
      let result = try run("framebus", start + ["--duration", "1.5"])
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.errors.hasSuffix("finished\n"))
      #expect(try scene.log().contains { $0.message.contains("the duration of the session") })
      let first = try RunningProgram("framebus", start + ["--duration", "3600"])
      try first.waitForErrors("live")
      _ = try first.end(with: Signal.kill)
      let board = try SessionBoard(scene.group, as: .host)
      let record = try #require(try board.read())
      #expect(!record.options.end.isPast && record.options.end != .never)
      // The hour has passed.
      try board.change(record.session) { $0.options.end = .now }
      let second = try run("framebus", start)
      #expect(second.status == .exited(0), "\(second.errors)")
      #expect(second.errors.contains("taking over"))
    }
  }

  @Test(
    .enabled(
      if: programInPath(named: "systemd-analyze") != nil, "the machine lacks systemd-analyze"))
  func exampleUnitIsValid() throws {
    let unit = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../examples/systemd/framebus-broadcast@.service")
    let text = try String(contentsOf: unit, encoding: .utf8)
      .replacing("/usr/local/bin/framebus", with: try pathOfProgram("framebus"))
    let copy = scene.root.file("framebus-broadcast@.service")
    try Data(text.utf8).write(to: URL(filePath: copy))
    let result = try run(
      "systemd-analyze", ["verify", "--user", "--man=no", copy],
      environment: ["XDG_RUNTIME_DIR": scene.root.path])
    #expect(result.status == .exited(0) && result.errors.isEmpty, "\(result.errors)")
  }
}
