import Foundation
import Platform
import TestSupport
import Testing

/// `framebus broadcast start` under a service manager.
@Suite struct ServiceTests {
  private let scene: BroadcastScene
  private let manager: RunningProgram
  private var socket: String { scene.root.file("notify") }

  init() throws {
    scene = try BroadcastScene()
    manager = try RunningProgram(
      "/usr/bin/python3", [tool("service_manager.py"), scene.root.file("notify")])
    try manager.waitForOutput("listening")
  }

  private func start(watchdog microseconds: Int) throws -> RunningProgram {
    try RunningProgram(
      "framebus",
      [
        "--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "start",
        BroadcastScene.extensionID, "--source", scene.source,
      ],
      environment: ["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "\(microseconds)"])
  }

  private func beats() -> Int {
    manager.output.text.split(separator: "\n").count { $0 == "WATCHDOG=1" }
  }

  /// A message of our own: all earlier ones have been printed when it is.
  private func say(_ text: String) throws {
    let line = "import socket, sys; s = socket.socket(1, 2); s.sendto(b'\(text)', sys.argv[1])"
    try output(of: "/usr/bin/python3", ["-c", line, socket])
    try manager.waitForOutput(text)
  }

  @Test func managerLearnsWhenTheBroadcastIsLiveAndWhenItEnds() throws {
    try withWatchdog {
      let host = try start(watchdog: 600_000_000)
      try manager.waitForOutput("READY=1")
      #expect(try scene.controller.status.phase == .live)
      #expect(manager.transcript.contains("STATUS=live\n"))
      #expect(!manager.transcript.contains("STOPPING=1"))
      #expect(try host.end(with: SIGTERM).status == .exited(0), "\(host.transcript)")
      try manager.waitForOutput("STOPPING=1")
    }
  }

  @Test func watchdogHearsOfAHostThatWorksAndNothingOfOneThatIsStopped() throws {
    try withWatchdog {
      let host = try start(watchdog: 100_000)
      try waitUntil("ten beats: \(manager.transcript)") { beats() >= 10 }
      host.process.send(signal: SIGSTOP)
      try waitUntil("the host is stopped") {
        try String(contentsOfFile: "/proc/\(host.processID)/status", encoding: .utf8)
          .contains("State:\tT")
      }
      try say("MARK=1")
      let stopped = beats()
      // Takes longer than the host may be silent.
      for _ in 0..<10 {
        try output(
          of: "framebus",
          ["--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "status"])
      }
      try say("MARK=2")
      #expect(beats() == stopped)
      host.process.send(signal: SIGCONT)
      try waitUntil("it goes on") { beats() > stopped }
      #expect(try host.end(with: SIGTERM).status == .exited(0), "\(host.transcript)")
    }
  }
}
