import Foundation
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// Detached hosts that die, meet or lose their terminal before they have let go of it.
@Suite struct DetachRaceTests {
  private let scene: BroadcastScene

  init() throws { scene = try BroadcastScene() }

  private var location: [String] {
    ["--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast"]
  }
  private var start: [String] {
    location + ["start", BroadcastScene.extensionID, "--source", scene.source, "--detach"]
  }

  private func watch(_ pid: Int32) throws -> ProcessWatch {
    guard let watch = ProcessWatch(pid) else { throw HarnessError("process \(pid) is gone") }
    return watch
  }

  private func stop() throws {
    let result = try run("framebus", location + ["stop"])
    #expect(result.status.isSuccess, "\(result.errors)")
    try waitUntil("all have exited") { try scene.controller.status.pids.isEmpty }
  }

  /// The only child of a process (proc_pid_children(5)).
  private func child(of pid: Int32) throws -> Int32 {
    let text = try String(
      contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
    return try #require(text.split(separator: " ").first.flatMap { Int32($0) })
  }

  @Test func hostThatIsKilledBeforeItsRecordLeavesNothingBehind() throws {
    try withWatchdog {
      let pipe = try OneWayPipe()
      let command = try RunningProgram(
        "framebus", location + ["start", "--source", scene.source, "--detach"],
        input: .descriptor(pipe.readEnd.number))
      try command.waitForErrors("Which extension?")
      let host = try watch(try child(of: command.processID))
      host.send(signal: Signal.kill)
      let result = try command.finish()
      #expect(result.status == .exited(1) && result.output.isEmpty)
      #expect(result.errors.contains("was killed while it started"), "\(result.errors)")
      #expect(try scene.controller.status.phase == .idle)
      #expect(try run("framebus", start).status == .exited(0))
      try stop()
    }
  }

  /// The roles of a killed host run on, and must not keep its command waiting.
  @Test func hostThatIsKilledBeforeItLetsGoEndsTheCommand() throws {
    try withWatchdog {
      try scene.register(["connects=yes"])
      let command = try RunningProgram("framebus", start)
      try scene.waitForTrace(["started 1", "video"])
      try scene.kill(.host)
      let result = try command.finish()
      #expect(result.status == .exited(1), "\(result.errors)")
      #expect(result.errors.contains("was killed while it started"), "\(result.errors)")
      #expect(try scene.controller.status.pids[.extension] != nil)
      try stop()
    }
  }

  @Test func startsAtTheSameTimeShareOneBroadcast() throws {
    try withWatchdog {
      let commands = try (0..<4).map { _ in try RunningProgram("framebus", start) }
      let results = try commands.map { try $0.finish() }
      let session = try #require(try scene.controller.status.session)
      for result in results {
        #expect(result.status == .exited(0), "\(result.errors)")
        #expect(result.output == "\(session)\n", "\(result.errors)")
      }
      #expect(try scene.controller.status.phase == .live)
      try stop()
      #expect(scene.trace.count { $0.hasPrefix("started") } == 1, "\(scene.trace)")
    }
  }

  /// As the one that began it does.
  @Test(arguments: ["live", "stop", "fail", "interrupt"])
  func commandThatJoinsWaitsForTheSession(end: String) throws {
    try withWatchdog {
      try scene.register(["connects=yes", "liveOn=go", "failOn=broken"])
      let first = try RunningProgram("framebus", start)
      try scene.waitForTrace(["started 1", "video"])
      let second = try RunningProgram("framebus", start)
      try second.waitForErrors("following it")
      if end == "interrupt" {
        #expect(try second.end(with: Signal.interrupt).status == .exited(130))
        #expect(try !scene.controller.status.isFinishing)
        return try stop()
      }
      if end == "stop" {
        try stop()
      } else {
        try scene.tell(end == "fail" ? "broken" : "go")
      }
      for result in [try first.finish(), try second.finish()] {
        #expect(result.status == .exited(end == "fail" ? 1 : 0), "\(result.errors)")
        if end == "fail" { #expect(result.errors.contains("error: the broadcast failed")) }
      }
      if end == "live" {
        let session = try #require(try scene.controller.status.session)
        #expect(second.output.text == "\(session)\n")
        try stop()
      }
    }
  }

  /// The broadcast runs: nothing about its output may end its host.
  @Test func sessionThatCannotBePrintedIsAWarning() throws {
    try withWatchdog {
      let words = ([try pathOfProgram("framebus")] + start).map { "'\($0)'" }
      let result = try run("sh", ["-c", words.joined(separator: " ") + " > /dev/full"])
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.errors.contains("its session cannot be printed"), "\(result.errors)")
      let status = try scene.controller.status
      #expect(status.phase == .live && status.pids[.host] != nil)
      try stop()
    }
  }

  @Test func terminalThatClosesBeforeTheHandOverEndsTheBroadcast() throws {
    try withWatchdog {
      try scene.register(["connects=yes"])
      let command = try RunningProgram("framebus", start)
      try scene.waitForTrace(["started 1", "video"])
      let host = try watch(try #require(try scene.controller.status.pids[.host]))
      _ = try command.end(with: SIGHUP)
      _ = try host.waitForEnd(until: .after(.seconds(60)))
      let status = try scene.controller.status
      #expect(status.ending == .finished && status.pids.isEmpty, "\(status)")
    }
  }

  @Test func terminalThatClosesAfterTheHandOverEndsNothing() throws {
    try withWatchdog {
      try scene.register(["connects=yes", "liveOn=go"])
      let command = try RunningProgram("framebus", start)
      try scene.waitForTrace(["started 1", "video"])
      // It sees the end of the terminal no earlier than the report of its host.
      command.process.send(signal: SIGSTOP)
      try scene.tell("go")
      var host: Int32?
      try waitUntil("the host has let go of the terminal") {
        host = try scene.controller.status.pids[.host]
        guard let host else { return false }
        let output = "/proc/\(host)/fd/2"
        return try FileManager.default.destinationOfSymbolicLink(atPath: output) == "/dev/null"
      }
      command.process.send(signal: SIGHUP)
      #expect(try command.end(with: SIGCONT).status == .exited(0), "\(command.transcript)")
      let session = try #require(try scene.controller.status.session)
      #expect(command.output.text == "\(session)\n")
      // A host that was asked to finish has recorded that.
      #expect(try !scene.controller.status.isFinishing)
      #expect(try scene.controller.status.pids[.host] == host)
      try stop()
    }
  }
}
