#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// GStreamer's plugin registry: a host makes it, and confined roles read it.
  @Suite struct PluginRegistryTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// GStreamer's messages on the registry in the extension, whose standard error is logged.
    private func record(_ name: String, _ environment: [String: String?]) throws -> String {
      var environment = environment
      environment["GST_DEBUG"] = "GST_REGISTRY:4"
      environment["GST_DEBUG_NO_COLOR"] = "1"
      let path = bench.file(name)
      let host = try bench.broadcast(
        to: "file:\(path)", ["--app-source", "beep:1000"], environment: environment)
      try bench.waitForSound(20, in: path, host)
      try bench.framebus("broadcast", "stop")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      return try bench.framebus("log", "--role", "host").output
    }

    @Test func hostMakesPluginRegistryForConfinedRoles() throws {
      try withWatchdog {
        let cache = bench.file("cache")
        let environment: [String: String?] = ["XDG_CACHE_HOME": cache, "GST_REGISTRY": nil]
        let log = try record("first.mkv", environment)
        let folder = cache + "/gstreamer-1.0"
        #expect(log.contains("loaded \(folder)/"), "\(log)")
        #expect(!log.contains("is stale") && !log.contains("cache changed"), "\(log)")
        let made = try facts(of: folder)
        #expect(made.count == 1, "\(made)")
        // The second broadcast finds the registry unchanged by roles.
        let both = try record("second.mkv", environment)
        #expect(both.count(of: "loaded \(folder)/") > log.count(of: "loaded \(folder)/"))
        #expect(!both.contains("is stale") && !both.contains("cache changed"), "\(both)")
        #expect(try facts(of: folder) == made)
      }
    }

    /// The scanner never answers, as if a plugin hung.
    @Test(arguments: [
      ["upload", "file:out.mkv"], ["capture", "pulse:monitor"], ["view", "screen"],
    ])
    func ctrlCEndsScanOfPluginsAtOnce(arguments: [String]) throws {
      try withWatchdog {
        let (scanner, mark) = (bench.file("scanner"), bench.file("scanning"))
        try "#!/bin/sh\ntouch '\(mark)'\nexec cat >/dev/null\n".write(
          toFile: scanner, atomically: true, encoding: .utf8)
        #expect(try run("chmod", ["755", scanner]).status.isSuccess)
        let program = try RunningProgram(
          "framebus", arguments + ["--root", bench.root.path],
          environment: ["GST_REGISTRY": bench.file("registry"), "GST_PLUGIN_SCANNER": scanner])
        try waitUntil("it scans plugins: \(program.transcript)") {
          FileManager.default.fileExists(atPath: mark)
        }
        #expect(try program.end(with: SIGINT).status == .exited(130), "\(program.transcript)")
      }
    }

    /// A host waits for the scan before it starts the first role that uses plugins.
    @Test func ctrlCEndsHostThatWaitsForPlugins() throws {
      try withWatchdog {
        let (scanner, mark) = (bench.file("scanner"), bench.file("scanning"))
        try "#!/bin/sh\ntouch '\(mark)'\nexec cat >/dev/null\n".write(
          toFile: scanner, atomically: true, encoding: .utf8)
        #expect(try run("chmod", ["755", scanner]).status.isSuccess)
        let host = try bench.broadcast(
          to: "file:\(bench.file("out.mkv"))",
          environment: ["GST_REGISTRY": bench.file("registry"), "GST_PLUGIN_SCANNER": scanner])
        try waitUntil("it scans plugins: \(host.transcript)") {
          FileManager.default.fileExists(atPath: mark)
        }
        #expect(try host.end(with: SIGINT).status == .exited(130), "\(host.transcript)")
        // A host that had waited for the scan would have started the roles then.
        #expect(try !log().contains("started the "))
      }
    }

    /// In a private root, devices differ from those in the registry, which then seems outdated.
    @Test func soundCaptureNeverRescansPlugins() throws {
      try withWatchdog {
        let cache = bench.file("cache")
        let environment: [String: String?] = [
          "XDG_CACHE_HOME": cache, "GST_REGISTRY": nil, "GST_DEBUG": "GST_REGISTRY:4",
          "GST_DEBUG_NO_COLOR": "1", "PULSE_SERVER": "unix:\(bench.file("none"))",
        ]
        for session in 1...2 {
          let path = bench.file("\(session).mkv")
          let host = try bench.broadcast(
            to: "file:\(path)", ["--app-source", "pulse:monitor"], environment: environment)
          // GStreamer starts once in each session, before the server is found missing.
          try host.waitForErrors("no audio-app: pulse:monitor: ")
          try bench.framebus("broadcast", "stop")
          #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        }
        let text = try log()
        #expect(text.contains("loaded \(cache)/"), "\(text)")
        #expect(!text.contains("cache changed") && !text.contains("update failed"), "\(text)")
      }
    }

    private func log() throws -> String { try bench.framebus("log").output }

    @Test func broadcastContinuesWithoutPluginRegistry() throws {
      try withWatchdog {
        let registry = "/proc/none/registry"
        let log = try record("out.mkv", ["GST_REGISTRY": registry])
        #expect(log.contains("because \(registry) cannot be created"), "\(log)")
      }
    }

    /// The name, inode and modification time of each file.
    private func facts(of folder: String) throws -> [String] {
      let manager = FileManager.default
      return try manager.contentsOfDirectory(atPath: folder).sorted().map { name in
        let facts = try manager.attributesOfItem(atPath: "\(folder)/\(name)")
        return "\(name) \(facts[.systemFileNumber] ?? 0) \(facts[.modificationDate] ?? 0)"
      }
    }
  }

  extension String {
    /// The number of occurrences of another string.
    fileprivate func count(of text: String) -> Int { components(separatedBy: text).count - 1 }
  }
#endif
