import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// Ctrl-C and `framebus broadcast stop` end a broadcast even if the disk is full or one of its
/// processes is dead or stopped.
@Suite struct EndingCLITests {
  private let root: TemporaryRoot
  private var location: [String] { ["--root", root.path, "--group", "a.b"] }

  init() throws { root = try TemporaryRoot() }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", location + arguments)
  }

  private func status() throws -> [String: Any] {
    let result = try framebus("broadcast", "status", "--json")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [String: Any], "\(result.errors)")
  }

  private func phase() throws -> String? { try status()["phase"] as? String }

  /// The running processes, as the kernel reports them.
  private func pids() throws -> [String: Int32] {
    let roles = try #require(try status()["roles"] as? [String: [String: Any]])
    return roles.compactMapValues { ($0["pid"] as? Int).map { Int32($0) } }
  }

  private func hasEnded(_ pid: Int32) throws -> Bool {
    guard let watch = ProcessWatch(pid) else { return true }
    return try watch.waitForEnd(until: .now)
  }

  /// The host of a broadcast with pictures only.
  private func start(
    _ executable: String, _ arguments: [String], writes: [String] = []
  ) throws -> RunningProgram {
    let manifest = root.file("manifest.toml")
    let text = """
      version = 1
      id = "up"
      executable = "\(executable)"
      arguments = \(arguments)
      writes = \(writes)
      samples = ["video"]
      """
    try Data(text.utf8).write(to: URL(filePath: manifest))
    for command in [["group", "create", "a.b"], ["extension", "register", manifest]] {
      let result = try run("framebus", location + command)
      #expect(result.status.isSuccess, "\(result.errors)")
    }
    return try RunningProgram(
      "framebus",
      location + [
        "broadcast", "start", "up", "--yes", "--source", "test:gradient", "--size", "64x48",
      ])
  }

  private func startLive() throws -> RunningProgram {
    let host = try start("framebus-upload", ["null:"])
    try waitUntil("it is live: \(host.transcript)") { try phase() == "live" }
    return host
  }

  // MARK: Repeated signals

  /// An extension that takes five seconds to finish, so that a second request can arrive meanwhile.
  private func startSlowToFinish(tracingIn folder: TemporaryRoot) throws -> RunningProgram {
    let trace = folder.file("trace")
    try Data().write(to: URL(filePath: trace))
    let host = try start(
      pathOfProgram("BroadcastWorker"), ["extension", "trace=\(trace)", "finishMs=5000"],
      writes: [trace])
    try waitUntil("it is live: \(host.transcript)") { try phase() == "live" }
    return host
  }

  private func waitForCall(_ name: String, in folder: TemporaryRoot) throws {
    try waitUntil("the extension traces \(name)") {
      try String(contentsOfFile: folder.file("trace"), encoding: .utf8).contains("\(name)\n")
    }
  }

  /// For one second after the first, another signal counts as the same request.
  private func waitUntilSecondSignalCounts() { sleep(until: .after(.milliseconds(1100))) }

  @Test func laterSecondSignalEndsHostAtOnce() throws {
    try withWatchdog {
      let elsewhere = try TemporaryRoot()
      let host = try startSlowToFinish(tracingIn: elsewhere)
      host.process.send(signal: Signal.terminate)
      try waitForCall("finishes", in: elsewhere)
      waitUntilSecondSignalCounts()
      #expect(try host.end(with: Signal.terminate).status == .exited(128 + Signal.terminate))
      // The extension that it left finishes on `stop`.
      #expect(try framebus("broadcast", "stop").status.isSuccess)
      try waitForCall("finished", in: elsewhere)
    }
  }

  // MARK: Full disks

  private static let canMount = Comment("file systems can only be mounted by root")

  /// Runs a test on a disk of a few mebibytes.
  private func onSmallDisk(_ body: () throws -> Void) throws {
    try output(of: "mount", ["-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", root.path])
    defer { _ = try? output(of: "umount", ["--lazy", root.path]) }
    try body()
  }

  /// Fills the disk, including the last block of the settings. This process does that itself,
  /// because a process that exits frees the space it reserved.
  private func fillDisk() throws {
    let controller = try BroadcastController(in: .open(GroupID("a.b"), root: root.path))
    let options = ["if=/dev/zero", "of=\(root.file("filler"))", "bs=4096", "oflag=append"]
    for _ in 1...2 {
      #expect(try run("dd", options + ["conv=notrunc"]).status == .exited(1))
      #expect(throws: BroadcastError.self) {
        for number in 1...1000 {
          let name = String(repeating: "x", count: 250) + "\(number % 10)"
          try controller.annotate(applicationID: name)
        }
      }
    }
  }

  @Test(
    .enabled(if: TestUser.canBeCreated, canMount), arguments: [Signal.interrupt, Signal.terminate])
  func signalEndsBroadcastOnFullDisk(signal: Int32) throws {
    try withWatchdog {
      try onSmallDisk {
        let host = try startLive()
        let pids = try pids()
        #expect(pids.count == 3)
        try fillDisk()
        try host.end(with: signal)
        let log = try framebus("log", "--role", "host").output
        #expect(log.contains("the request to finish cannot be recorded"), "\(log)")
        for (role, pid) in pids { #expect(try hasEnded(pid), "\(role)") }
      }
    }
  }

  @Test(.enabled(if: TestUser.canBeCreated, canMount))
  func stopEndsBroadcastOnFullDiskAndReportsUnrecordedEnding() throws {
    try withWatchdog {
      try onSmallDisk {
        let host = try startLive()
        let pids = try pids()
        try fillDisk()
        let stopped = try framebus("broadcast", "stop")
        try host.finish()
        // Processes that exit free space, so the ending may be recorded after all.
        if stopped.status.isSuccess {
          #expect(try phase() == "finished", "\(stopped.errors)")
        } else {
          #expect(stopped.status == .exited(1))
          #expect(stopped.errors.contains("No space left on device"), "\(stopped.errors)")
        }
        for (role, pid) in pids { #expect(try hasEnded(pid), "\(role)") }
      }
    }
  }

  @Test(.enabled(if: TestUser.canBeCreated, canMount))
  func secondStopOnFullDiskDoesNotInterruptFinishingExtension() throws {
    try withWatchdog {
      let elsewhere = try TemporaryRoot()
      try onSmallDisk {
        let host = try startSlowToFinish(tracingIn: elsewhere)
        try fillDisk()
        let first = try RunningProgram("framebus", location + ["broadcast", "stop"])
        try waitForCall("finishes", in: elsewhere)
        waitUntilSecondSignalCounts()
        _ = try framebus("broadcast", "stop")
        _ = try first.finish()
        try host.finish()
        try waitForCall("finished", in: elsewhere)
      }
    }
  }

  @Test(.enabled(if: TestUser.canBeCreated, canMount))
  func broadcastContinuesOnFullDisk() throws {
    try withWatchdog {
      try onSmallDisk {
        let host = try startLive()
        let before = try pids()
        try fillDisk()
        let capture = try #require(before["capture"])
        ProcessWatch(capture)?.send(signal: Signal.kill)
        // Frees space for the next capture; the next change by any process writes the record.
        try waitUntil("the capture is gone") { try pids()["capture"] != capture }
        try FileManager.default.removeItem(atPath: root.file("filler"))
        try waitUntil("it is live again: \(host.transcript)") {
          _ = try framebus("broadcast", "annotate", "org.example.editor")
          return try pids().count == 3 && phase() == "live"
        }
        #expect(try pids()["extension"] == before["extension"])
        #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
      }
    }
  }

  @Test func ctrlCEndsBroadcastWhoseSettingsWereRemoved() throws {
    try withWatchdog {
      let host = try startLive()
      let pids = try pids()
      try FileManager.default.removeItem(atPath: root.file("state"))
      try host.end(with: Signal.interrupt)
      for (role, pid) in pids { #expect(try hasEnded(pid), "\(role)") }
    }
  }

  // MARK: Stopped and unrelated programs

  /// A process that sleeps for a number of seconds that no other process uses.
  private func sleeper(_ seconds: String) throws -> Int32? {
    let found = try run("pgrep", ["-f", "^[^ ]*sleep \(seconds)$"])
    return found.output.split(separator: "\n").first.flatMap { Int32($0) }
  }

  @Test func silentExtensionProgramIsReportedAndStoppedAfterHostDies() throws {
    try withWatchdog {
      let seconds = "100000.\(UInt32.random(in: 1...(.max)))"
      let host = try start("/bin/sh", ["-c", "sleep \(seconds); :"])
      try waitUntil("there is a capture: \(host.transcript)") { try pids()["capture"] != nil }
      try waitUntil("the program runs") { try sleeper(seconds) != nil }
      let pid = try #require(try sleeper(seconds))
      try host.waitForErrors("/bin/sh runs as the extension, but has not called")
      let stop = try RunningProgram("framebus", location + ["broadcast", "stop"])
      try waitUntil("it is asked to finish: \(stop.transcript)") { try phase() == "finishing" }
      _ = try host.end(with: Signal.kill)
      let result = try stop.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.errors.hasSuffix(" died\n"), "\(result.errors)")
      try waitUntil("its child process has ended too") { try hasEnded(pid) }
      #expect(try pids() == [:])
    }
  }

  @Test func stopReportsStoppedHostAndWaitsForIt() throws {
    try withWatchdog {
      let host = try startLive()
      host.process.send(signal: Signal.stop)
      let stop = try RunningProgram("framebus", location + ["broadcast", "stop"])
      try stop.waitForErrors("the host, process \(host.processID), does not respond")
      #expect(stop.process.status == nil)
      host.process.send(signal: Signal.continue)
      let result = try stop.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.errors.contains(" finished"), "\(result.errors)")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      #expect(try pids() == [:])
    }
  }
}
