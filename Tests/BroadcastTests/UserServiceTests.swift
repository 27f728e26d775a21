import Foundation
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// `framebus broadcast start --detach` where systemd runs for the user.
@Suite struct UserServiceTests {
  private let scene: BroadcastScene
  private let directory: String

  init() throws {
    scene = try BroadcastScene()
    directory = scene.root.file("user")
  }

  private func manager(in network: [String] = []) throws -> RunningProgram {
    let command = network + ["/usr/bin/python3", tool("user_manager.py"), directory]
    let manager = try RunningProgram(command[0], Array(command.dropFirst()))
    try manager.waitForOutput("listening")
    return manager
  }

  private var location: [String] {
    ["--root", scene.root.path, "--group", "\(scene.group.id)"]
  }
  private func start(_ more: String..., extension id: String? = nil) throws -> RunningProgram {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return try RunningProgram(
      "framebus",
      location + ["broadcast", "start", id ?? BroadcastScene.extensionID]
        + ["--source", scene.source, "--detach"] + more,
      environment: ["XDG_RUNTIME_DIR": directory, "PATH": "\(directory)/bin:\(path)"])
  }
  /// The words that systemd-run was started with; none if it was not.
  private var started: [String] {
    let text = try? String(contentsOfFile: "\(directory)/started", encoding: .utf8)
    return text?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) ?? []
  }
  private func stop() throws {
    let host = try #require(try scene.controller.status.pids[.host])
    #expect(try run("framebus", location + ["broadcast", "stop"]).status.isSuccess)
    if let watch = ProcessWatch(host) { _ = try watch.waitForEnd(until: .after(.seconds(60))) }
  }

  @Test func hostIsAServiceThatIsRestartedAfterAKill() throws {
    try withWatchdog {
      let manager = try manager()
      defer { _ = try? manager.end(with: SIGKILL) }
      let result = try start("--consent", "costs $HOME 100%").finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let status = try scene.controller.status
      let session = try #require(status.session)
      #expect(status.phase == .live && result.output == "\(session)\n")
      let host = try #require(status.pids[.host])
      for number in 0...2 {
        let path = "/proc/\(host)/fd/\(number)"
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "/dev/null")
      }
      for option in ["--pipe", "--same-dir", "--property=Restart=on-abnormal"] {
        #expect(started.contains(option), "\(started)")
      }
      // Systemd would replace the name by a variable.
      #expect(started.contains("costs $$HOME 100%"))
      try stop()
      // Started again, as systemd would: the command is gone, and nobody reads what it prints.
      let separator = try #require(started.firstIndex(of: "--"))
      let again = started[(separator + 1)...].map { $0.replacing("$$", with: "$") }
      let second = try RunningProgram(again[0], Array(again.dropFirst()))
      try waitUntil("it is live") { try scene.controller.status.phase == .live }
      #expect(try scene.controller.status.session != session)
      try stop()
      let ended = try second.finish()
      #expect(ended.status == .exited(0) && ended.output.isEmpty && ended.errors.isEmpty)
    }
  }

  @Test func errorsAndExitStatusesReachTheTerminal() throws {
    try withWatchdog {
      let manager = try manager()
      defer { _ = try? manager.end(with: SIGKILL) }
      let unknown = try start(extension: "none").finish()
      #expect(unknown.status == .exited(1) && !started.isEmpty)
      #expect(unknown.errors.hasPrefix("error: extension none is not registered"))
      try scene.register(["connecting=the server is busy"])
      let busy = try start().finish()
      #expect(busy.status == .exited(3), "\(busy.errors)")
      #expect(busy.errors.contains("connecting: the server is busy"), "\(busy.errors)")
      try stop()
    }
  }

  @Test func ctrlCBeforeTheRolesRunStopsTheService() throws {
    try withWatchdog {
      let manager = try manager()
      defer { _ = try? manager.end(with: SIGKILL) }
      // Nothing publishes: the pipe has no writer.
      let pipe = scene.root.file("pipe")
      try output(of: "mkfifo", [pipe])
      let command = try start("--no-confine", "--source", "y4m:\(pipe)")
      try command.waitForErrors("broadcast ")
      #expect(try command.end(with: Signal.interrupt).status == .exited(130))
      try waitUntil("it has ended") { try scene.controller.status.phase == .finished }
    }
  }

  /// Its services would have another network.
  @Test(.enabled(if: geteuid() == 0, "only root can make a network without a user namespace"))
  func systemdOfAnotherNetworkIsNotUsed() throws {
    try withWatchdog {
      let manager = try manager(in: ["unshare", "--net"])
      defer { _ = try? manager.end(with: SIGKILL) }
      let result = try start().finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(started.isEmpty)
      try stop()
    }
  }
}
