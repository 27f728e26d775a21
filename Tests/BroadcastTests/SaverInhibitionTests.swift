#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// The desktop's screen saver during a broadcast, on a session bus of the test's own.
  @Suite struct SaverInhibitionTests {
    private let root: TemporaryRoot
    private let screen: VirtualScreen

    init() throws {
      root = try TemporaryRoot()
      screen = try VirtualScreen(width: 64, height: 48)
      try framebus("extension", "register", "--builtin", "null", "--id", "up")
    }

    @discardableResult
    private func framebus(_ arguments: String...) throws -> String {
      try output(of: "framebus", ["--root", root.path] + arguments)
    }

    private func start(_ options: String..., on bus: SessionBus?) throws -> RunningProgram {
      let host = try RunningProgram(
        "framebus", ["--root", root.path, "broadcast", "start", "up", "--yes"] + options,
        environment: [
          "DBUS_SESSION_BUS_ADDRESS": bus?.address, "XDG_RUNTIME_DIR": root.path,
        ])
      try waitUntil("it is live: \(host.transcript)") {
        try status()["phase"] as? String == "live"
      }
      return host
    }

    private func status() throws -> [String: Any] {
      let text = try framebus("broadcast", "status", "--json")
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
      return try #require(object as? [String: Any])
    }

    private func pid(of role: String) throws -> Int {
      let roles = try #require(try status()["roles"] as? [String: [String: Any]])
      return try #require(roles[role]?["pid"] as? Int)
    }

    private var source: String { "screen:\(screen.display)" }

    @Test func desktopsSaverIsOffAsLongAsTheBroadcast() throws {
      try withWatchdog {
        let bus = try SessionBus(in: root)
        let host = try start("--source", source, on: bus)
        try bus.waitForReports(["inhibit 1 FrameBus: A broadcast shows the screen"])
        // The extension is restarted, and the host's part goes on.
        #expect(kill(Int32(try pid(of: "extension")), SIGKILL) == 0)
        try waitUntil("it is restarted: \(host.transcript)") {
          try status()["attempt"] as? Int == 2
        }
        try framebus("broadcast", "pause")
        try framebus("broadcast", "resume")
        #expect(bus.reports.count == 1, "\(bus.reports)")
        try framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        try bus.waitForReports([
          "inhibit 1 FrameBus: A broadcast shows the screen", "uninhibit 1", "gone 1",
        ])
      }
    }

    @Test func killedHostLeavesTheBusAndTheNextOneInhibitsAgain() throws {
      try withWatchdog {
        let bus = try SessionBus(in: root)
        let first = try start("--source", source, on: bus)
        try bus.waitForReports(["inhibit 1 FrameBus: A broadcast shows the screen"])
        try first.end(with: SIGKILL)
        let both = [
          "inhibit 1 FrameBus: A broadcast shows the screen", "gone 1",
          "inhibit 2 FrameBus: A broadcast shows the screen",
        ]
        try bus.waitForReports(Array(both.prefix(2)))
        let next = try start("--source", source, on: bus)
        try bus.waitForReports(both)
        try framebus("broadcast", "stop")
        #expect(try next.finish().status == .exited(0), "\(next.transcript)")
        try bus.waitForReports(both + ["uninhibit 2", "gone 2"])
      }
    }

    @Test(arguments: ["capture", "pause", "test"])
    func otherPolicyOrSourceDoesNotInhibit(policy: String) throws {
      try withWatchdog {
        let bus = try SessionBus(in: root)
        let options =
          policy == "test"
          ? ["--source", "test", "--size", "64x48"] : ["--source", source, "--while-saver", policy]
        let host = try start(options[0], options[1], options[2], options[3], on: bus)
        try framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        #expect(bus.reports.isEmpty, "\(bus.reports)")
      }
    }

    /// Without a bus, or without the service on it. The log says so once.
    @Test(arguments: [false, true])
    func broadcastGoesOnWithoutTheService(hasBus: Bool) throws {
      try withWatchdog {
        let bus = hasBus ? try SessionBus(in: root, hasService: false) : nil
        let host = try start("--source", source, on: bus)
        let why = hasBus ? "org.freedesktop.ScreenSaver: " : "no session bus: "
        let text = "is not asked to keep its screen saver and locker off (\(why)"
        try waitUntil("the log says so") { try framebus("log").contains(text) }
        try framebus("broadcast", "stop")
        let result = try host.finish()
        #expect(result.status == .exited(0) && !result.errors.contains("saver"), "\(result)")
        #expect(try framebus("log").components(separatedBy: text).count == 2)
        withExtendedLifetime(bus) {}
      }
    }
  }

  /// A D-Bus daemon with a desktop's screen saver service (Tests/Tools/saver_service.py).
  private final class SessionBus {
    let address: String
    private let daemon: RunningProgram
    private let service: RunningProgram?

    init(in root: TemporaryRoot, hasService: Bool = true) throws {
      let wanted = "unix:path=\(root.file("session-bus"))"
      daemon = try RunningProgram(
        "dbus-daemon", ["--session", "--nofork", "--address=\(wanted)", "--print-address=1"])
      try daemon.waitForOutput("\n")
      address = wanted
      guard hasService else {
        service = nil
        return
      }
      service = try RunningProgram(
        "/usr/bin/python3", [tool("saver_service.py")],
        environment: ["DBUS_SESSION_BUS_ADDRESS": address])
      try service?.waitForOutput("ready\n")
    }

    var reports: [String] {
      let lines = service?.output.text.split(separator: "\n").dropFirst() ?? []
      return lines.map(String.init)
    }

    func waitForReports(_ wanted: [String]) throws {
      try waitUntil("\(wanted) is reported, not \(reports)") { reports == wanted }
    }
  }
#endif
