#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Broadcasts to servers that are not running yet, or that refuse.
  @Suite struct ConnectingTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func framebus(_ arguments: String...) throws -> ProgramResult {
      try run("framebus", ["--root", root.path] + arguments)
    }

    private func status() throws -> [String: Any] {
      let result = try framebus("broadcast", "status", "--json")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      return try #require(object as? [String: Any])
    }

    private func broadcast(
      to address: String, _ options: [String] = [], starting: [String] = []
    ) throws -> RunningProgram {
      let registered = try run(
        "framebus",
        ["--root", root.path, "extension", "register", "--builtin", "whip:\(address)"] + options)
      #expect(registered.status == .exited(0), "\(registered.errors)")
      return try RunningProgram(
        "framebus",
        [
          "--root", root.path, "broadcast", "start", "framebus.upload", "--yes", "--source", "test",
          "--size", "320x240",
        ] + starting)
    }

    @Test func broadcastConnectsWithReasonUntilServerRuns() throws {
      try withWatchdog {
        let port = try OwnPort()
        let host = try broadcast(to: "http://127.0.0.1:\(port.number)/whip")
        try host.waitForErrors("connecting: http://127.0.0.1:")
        let connecting = try status()
        #expect(connecting["phase"] as? String == "connecting")
        let reason = try #require(connecting["reason"] as? String)
        #expect(reason.contains("cannot connect"), "\(reason)")
        #expect(try framebus("broadcast", "status").output.contains("connecting, http://"))
        #expect(!host.errors.text.contains("live"))
        let server = try WebServer("whip_server.py", ["\(port.number)"])
        try server.waitForFrames(10)
        try waitUntil("it is live: \(host.transcript)") {
          try status()["phase"] as? String == "live"
        }
        #expect(try status()["reason"] as? String == "")
        #expect(try framebus("broadcast", "stop").status == .exited(0))
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        try server.program.waitForOutput("DELETE 200")
      }
    }

    @Test func detachedStartReturnsWhileServerIsDown() throws {
      try withWatchdog {
        let port = try OwnPort()
        try output(
          of: "framebus",
          [
            "--root", root.path, "extension", "register", "--builtin",
            "whip:http://127.0.0.1:\(port.number)/whip",
          ])
        let start = [
          "broadcast", "start", "framebus.upload", "--yes", "--source", "test", "--size",
          "320x240", "--detach",
        ]
        let result = try run("framebus", ["--root", root.path] + start)
        #expect(result.status == .exited(3), "\(result.errors)")
        #expect(result.errors.contains("connecting: http://127.0.0.1:"), "\(result.errors)")
        #expect(result.errors.contains("; see `framebus broadcast status"), "\(result.errors)")
        #expect(try status()["session"] as? String == String(result.output.dropLast()))
        let server = try WebServer("whip_server.py", ["\(port.number)"])
        try server.waitForFrames(5)
        try waitUntil("it is live") { try status()["phase"] as? String == "live" }
        #expect(try framebus("broadcast", "stop").status == .exited(0))
        try server.program.waitForOutput("DELETE 200")
      }
    }

    /// No picture opens the connection, and none says that it is open.
    @Test func soundAloneConnectsAndIsLive() throws {
      try withWatchdog {
        let port = try OwnPort()
        let address = "http://127.0.0.1:\(port.number)/whip"
        let host = try broadcast(
          to: address, ["--samples", "audio-app"], starting: ["--app-source", "tone:997"])
        try host.waitForErrors("connecting: http://127.0.0.1:")
        let server = try WebServer("whip_server.py", ["\(port.number)"])
        try host.waitForErrors("live", within: .seconds(120))
        try server.program.waitForOutput("sound 99")
        #expect(try status()["phase"] as? String == "live")
        #expect(server.frameNumbers.isEmpty)
        // The peer is gone: the sound says so, too.
        try server.program.end(with: SIGKILL)
        try waitUntil("it connects again: \(host.transcript)") {
          try status()["phase"] as? String == "connecting"
        }
        #expect(try framebus("broadcast", "stop").status == .exited(0))
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }

    @Test func busyServerIsReasonAndStopIsClean() throws {
      try withWatchdog {
        let odd = try WebServer("odd_web_server.py")
        let host = try broadcast(to: odd.address("status/503"))
        try waitUntil("the reason is the status: \(host.transcript)") {
          (try status()["reason"] as? String)?.contains("status 503") == true
        }
        #expect(try status()["phase"] as? String == "connecting")
        // The server's text cannot control the terminal.
        #expect(!host.errors.text.contains("\u{1b}"))
        // Followed by the sound that could not be captured, on a machine without a sound server.
        #expect(try framebus("broadcast", "stop").errors.contains(" finished"))
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }

    /// The command that the failure names signs in.
    @Test func refusedTokenReachesHostWithStatusAndRecovery() throws {
      try withWatchdog {
        try root.seal("expired", "live.example.com", "studio")
        let server = try WebServer("whip_server.py", ["0", "token=renewed"])
        let token = ["--credential", "live.example.com/studio"]
        let refused = try broadcast(to: server.address("whip"), token).finish()
        #expect(refused.status == .exited(1))
        let ending = try #require(try status()["ending"] as? [String: Any])
        #expect(ending["domain"] as? String == "WHIP" && ending["code"] as? Int == 401)
        #expect((ending["reason"] as? String)?.contains("status 401") == true, "\(ending)")
        let recovery = try #require(ending["recovery"] as? String)
        let command = "framebus credential set live.example.com studio --root \(root.path)"
        #expect(recovery == "sign in: \(command)")
        #expect(refused.errors.contains("error: the broadcast failed: WHIP 401: "))
        #expect(refused.errors.contains("(\(recovery))"), "\(refused.errors)")
        let pipe = try OneWayPipe()
        try writeFully(Array("renewed".utf8), to: pipe.writeEnd.number)
        let input = try pipe.readEnd.duplicate()
        _ = pipe.takeWriteEnd()
        let words = command.split(separator: " ").dropFirst().map(String.init)
        let set = try RunningProgram("framebus", words, input: .descriptor(input.number)).finish()
        #expect(set.status == .exited(0), "\(set.errors)")
        let host = try broadcast(to: server.address("whip"), token)
        try server.waitForFrames(5)
        #expect(try framebus("broadcast", "stop").status == .exited(0))
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }
  }
#endif
