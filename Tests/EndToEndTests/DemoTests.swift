#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// `framebus demo` as a user runs it, on a machine without a screen.
  @Suite(.serialized) struct DemoTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func demo(
      _ arguments: [String], environment: [String: String?] = [:]
    ) throws -> RunningProgram {
      let noScreen: [String: String?] = ["DISPLAY": nil, "WAYLAND_DISPLAY": nil]
      return try RunningProgram(
        "framebus", ["demo"] + arguments, environment: noScreen.merging(environment) { $1 },
        directory: root.path)
    }

    /// Expects that the directory and the processes named on standard error are gone.
    private func expectNothingIsLeft(of errors: String) throws {
      let words = errors.split(whereSeparator: { " ,\n".contains($0) }).map(String.init)
      let folders = words.filter { $0.hasPrefix("/tmp/framebus-demo-") }
      #expect(folders.count == 1)
      for folder in folders { #expect(!FileManager.default.fileExists(atPath: folder)) }
      for (word, next) in zip(words, words.dropFirst()) where word == "process" {
        let processID = try #require(Int32(next))
        #expect(kill(processID, 0) == -1 && errno == ESRCH, "process \(processID) is running")
      }
    }

    @Test func recordsVirtualScreenAndPrintsFigures() throws {
      let program = try demo(["--seconds", "2", "--json", "--output", "screen.mkv"])
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let figures = try #require(object as? [String: Any])
      #expect(
        Set(figures.keys) == [
          "frames", "fps", "drops", "latency_p50_ns", "latency_p99_ns", "copies_per_frame",
          "output", "picture",
        ])
      #expect(figures["copies_per_frame"] as? Double == 0)
      #expect(figures["output"] as? String == "screen.mkv")
      let frames = try #require(figures["frames"] as? Int)
      let counted = try output(
        of: "ffprobe",
        [
          "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of",
          "csv=p=0",
        ]
          + [root.file("screen.mkv")])
      let decoded = try #require(Int(counted.filter(\.isNumber)))
      #expect(frames > 1 && decoded >= frames)
      try expectNothingIsLeft(of: result.errors)
    }

    /// Settings, a sealed token, confined roles, a notification for each change, and a merged log.
    @Test func showsSettingsTokenRolesNotificationsAndLog() throws {
      let program = try demo(["--seconds", "1", "--output", "screen.mkv"])
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      let lines = result.errors.split(separator: "\n").map(String.init)
      for expected in [
        "settings   uploadBitrate is 4M",
        "token      demo/token, sealed by the host, handed over only to the extension",
        "notified   framebus.broadcast: starting", "notified   framebus.broadcast: live",
        "notified   framebus.broadcast: finished",
      ] {
        #expect(lines.contains(expected), "\(expected) in \(result.errors)")
      }
      for role in ["capture", "extension"] {
        #expect(
          lines.contains { $0.hasPrefix(role) && $0.contains(", confined: on") },
          "\(result.errors)")
      }
      let log = lines.drop { !$0.hasPrefix("log ") }
      for expected in [
        "host       the session starts", "extension  opened the credential demo/token",
        "extension  upload ended", "host       all roles have exited",
      ] {
        #expect(log.contains { $0.hasSuffix(expected) }, "\(expected) in \(log)")
      }
      #expect(log.contains { $0.contains("  capture    ") }, "\(log)")
    }

    @Test func pictureShowsWindowsAndMp4Plays() throws {
      let program = try demo(["--seconds", "1", "--output", "screen.mp4"])
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      // The yellow of the polyhedron, which an unrelated program drew.
      let colours = try output(
        of: "convert", [root.file("screen.png"), "-sample", "160x", "txt:-"])
      let hasYellow = colours.split(separator: "\n").contains { line in
        let numbers = line.split(whereSeparator: { !$0.isNumber }).prefix(5).compactMap { Int($0) }
        return numbers.count == 5 && numbers[2] > 150 && numbers[3] > 120 && numbers[4] < 90
      }
      #expect(hasYellow)
      #expect(
        try output(of: "identify", ["-format", "%wx%h", root.file("screen.png")]) == "1280x720")
      #expect(result.output.contains("picture         screen.png"))
    }

    @Test func ctrlCStopsAllStartedPrograms() throws {
      let program = try demo(["--seconds", "600"])
      try program.waitForErrors(" fps")
      let result = try program.end(with: SIGINT)
      #expect(result.status == .exited(130), "\(program.transcript)")
      try expectNothingIsLeft(of: result.errors)
      // The recording so far is complete, and its figures are printed.
      #expect(result.output.contains("recording       framebus-demo.mkv"))
      #expect(try run("ffprobe", ["-v", "error", root.file("framebus-demo.mkv")]).errors == "")
    }

    /// Otherwise a screen would be recorded without anybody's knowledge.
    @Test func killedDemoLeavesNoProcess() throws {
      try withWatchdog {
        let program = try demo(["--seconds", "600"])
        try program.waitForErrors(" fps")
        let children = try ProcessFacts(program.processID).children
        let names = Set(children.compactMap { try? $0.name })
        #expect(
          names.isSuperset(of: ["Xvfb", "ico", "framebus-view", "framebus-upload"]), "\(names)")
        #expect(names.contains("framebus-captur"), "\(names)")
        #expect(try program.end(with: SIGKILL).status == .killed(signal: SIGKILL))
        try waitUntil("nothing of \(names) runs") { !children.contains { $0.isRunning } }
      }
    }

    @Test(.enabled(if: SwaySession.isAvailable, "needs sway: scripts/setup --test"))
    func recordsVirtualCompositorWithoutACopy() throws {
      let program = try demo(["--wayland", "--seconds", "2", "--json", "--output", "screen.mkv"])
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      #expect(result.errors.contains("a virtual Wayland compositor (sway)"), "\(result.errors)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let figures = try #require(object as? [String: Any])
      #expect(figures["copies_per_frame"] as? Double == 0)
      // The bars change more often than they are captured.
      #expect(try #require(figures["frames"] as? Int) > 10, "\(figures)")
      #expect(
        try output(of: "identify", ["-format", "%wx%h", root.file("screen.png")]) == "1280x720")
      for role in ["capture", "extension"] {
        #expect(
          result.errors.split(separator: "\n").contains {
            $0.hasPrefix(role) && $0.contains(", confined: on")
          }, "\(result.errors)")
      }
      try expectNothingIsLeft(of: result.errors)
    }

    @Test(.enabled(if: SwaySession.isAvailable, "needs sway: scripts/setup --test"))
    func recordsTheWaylandSessionThatIsThere() throws {
      let session = try SwaySession("640x480")
      try session.paint("#12ab34")
      // The session of another user, and the capture is sandboxed: root without capabilities.
      let runtime = (session.socket as NSString).deletingLastPathComponent
      try output(of: "chmod", ["-R", "a+rwX", runtime])
      let program = try demo(
        ["--wayland", "--seconds", "1", "--output", "screen.mkv"], environment: session.environment)
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(program.transcript)")
      #expect(result.errors.contains("your Wayland session, \(session.socket)"))
      let pixel = try output(
        of: "convert",
        [root.file("screen.png"), "-crop", "1x1+300+200", "-depth", "8", "-format"]
          + ["%[fx:int(255*r+.5)] %[fx:int(255*g+.5)] %[fx:int(255*b+.5)]", "info:-"])
      let colour = pixel.split(separator: " ").compactMap { Int($0) }
      // As close as an encoder keeps it.
      #expect(
        colour.count == 3 && zip(colour, [0x12, 0xAB, 0x34]).allSatisfy { abs($0 - $1) < 24 })
      #expect(try run("swaymsg", ["-s", session.control, "-t", "get_version"]).status.isSuccess)
      try expectNothingIsLeft(of: result.errors)
    }

    @Test(.enabled(if: SwaySession.isAvailable, "needs sway: scripts/setup --test"))
    func killedDemoLeavesNoCompositor() throws {
      try withWatchdog {
        let program = try demo(["--wayland", "--virtual", "--seconds", "600"])
        try program.waitForErrors(" fps")
        let children = try ProcessFacts(program.processID).children
        let names = Set(children.compactMap { try? $0.name })
        #expect(names.isSuperset(of: ["sway", "foot", "framebus-captur"]), "\(names)")
        #expect(try program.end(with: SIGKILL).status == .killed(signal: SIGKILL))
        try waitUntil("nothing of \(names) runs") { !children.contains { $0.isRunning } }
      }
    }

    @Test func laterDemoRemovesFolderOfKilledDemoAndNoOther() throws {
      try withWatchdog {
        let (killed, killedFolder) = try demoInFolder()
        #expect(try killed.end(with: SIGKILL).status == .killed(signal: SIGKILL))
        let (living, livingFolder) = try demoInFolder()
        #expect(!FileManager.default.fileExists(atPath: killedFolder))
        let (keeping, keptFolder) = try demoInFolder("--keep")
        #expect(try keeping.end(with: SIGKILL).status == .killed(signal: SIGKILL))
        defer { try? FileManager.default.removeItem(atPath: keptFolder) }
        try demoInFolder().0.end(with: SIGINT)
        #expect(FileManager.default.fileExists(atPath: livingFolder))
        #expect(FileManager.default.fileExists(atPath: keptFolder))
        try expectNothingIsLeft(of: living.end(with: SIGINT).errors)
      }
    }

    /// A running demo, and its directory.
    private func demoInFolder(_ options: String...) throws -> (RunningProgram, String) {
      let program = try demo(["--seconds", "600"] + options)
      try program.waitForErrors(" in /tmp/framebus-demo-")
      let words = program.errors.text.split(whereSeparator: \.isWhitespace)
      let folder = try #require(words.first { $0.hasPrefix("/tmp/framebus-demo-") })
      return (program, String(folder))
    }

    @Test func browserCanWatchDuringDemo() throws {
      let program = try demo(["--seconds", "600"])
      try program.waitForErrors("live page  http://127.0.0.1:")
      try program.waitForErrors(" fps")
      let line = program.errors.text.split(separator: "\n").first { $0.hasPrefix("live page") }
      let address = try #require(line?.split(separator: " ").last)
      let get = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
      #expect(try output(of: "python3", ["-c", get, String(address)]).contains("<video"))
      try expectNothingIsLeft(of: program.end(with: SIGINT).errors)
    }

    @Test func unwritableFileIsOneErrorLineAndStartsNothing() throws {
      let result = try demo(["--output", "missing/screen.mkv"]).finish()
      #expect(result.status == .exited(1))
      let errors = result.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
      #expect(errors.count == 1 && errors[0].contains("missing/screen.mkv"), "\(result.errors)")
      // The only line: nothing was started.
      #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test func missingServerErrorNamesPackages() throws {
      let result = try demo([], environment: ["PATH": root.path]).finish()
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("apt-get install xvfb"), "\(result.errors)")
      try expectNothingIsLeft(of: result.errors)
      let other = try demo(["--wayland"], environment: ["PATH": root.path]).finish()
      #expect(other.errors.contains("apt-get install sway foot"), "\(other.errors)")
    }

    @Test(arguments: [
      ["--seconds", "0"], ["--output", "screen.avi"], ["--fps", "1000"], ["--root", "x"],
    ])
    func impossibleOptionsAreUsageErrors(_ arguments: [String]) throws {
      #expect(try demo(arguments).finish().status == .exited(2))
    }
  }
#endif
