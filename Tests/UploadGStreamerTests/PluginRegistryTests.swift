#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// What GStreamer knows of its plugins: a host makes it, and confined roles read it.
  @Suite struct PluginRegistryTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// What GStreamer says of it in the extension, whose standard error goes into the log.
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

    @Test func aHostWhoseUserNeverRanGStreamerMakesItForItsConfinedRoles() throws {
      try withWatchdog {
        let cache = bench.file("cache")
        let environment: [String: String?] = ["XDG_CACHE_HOME": cache, "GST_REGISTRY": nil]
        let log = try record("first.mkv", environment)
        let folder = cache + "/gstreamer-1.0"
        #expect(log.contains("loaded \(folder)/"), "\(log)")
        #expect(!log.contains("is stale") && !log.contains("cache changed"), "\(log)")
        let made = try facts(of: folder)
        #expect(made.count == 1, "\(made)")
        // The second finds it, and no role has touched it.
        let both = try record("second.mkv", environment)
        #expect(both.count(of: "loaded \(folder)/") > log.count(of: "loaded \(folder)/"))
        #expect(!both.contains("is stale") && !both.contains("cache changed"), "\(both)")
        #expect(try facts(of: folder) == made)
      }
    }

    /// Seen from a private root, what plugins say of devices differs, and so seems out of date.
    @Test func noCaptureOfSoundLooksThroughAllPluginsInAnySession() throws {
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
          // Its GStreamer has started before it finds no server, once in each session.
          let end = "pulse:monitor: "
          let before = try log().count(of: end)
          try waitUntil("the capture looks for its server: \(host.transcript)") {
            try log().count(of: end) > before
          }
          try bench.framebus("broadcast", "stop")
          #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        }
        let text = try log()
        #expect(text.contains("loaded \(cache)/"), "\(text)")
        #expect(!text.contains("cache changed") && !text.contains("update failed"), "\(text)")
      }
    }

    private func log() throws -> String { try bench.framebus("log").output }

    @Test func whereItCannotBeMadeTheLogSaysSoAndTheBroadcastGoesOn() throws {
      try withWatchdog {
        let registry = "/proc/none/registry"
        let log = try record("out.mkv", ["GST_REGISTRY": registry])
        #expect(log.contains("because \(registry) cannot be created"), "\(log)")
      }
    }

    /// Of each file its name, number and time of change.
    private func facts(of folder: String) throws -> [String] {
      let manager = FileManager.default
      return try manager.contentsOfDirectory(atPath: folder).sorted().map { name in
        let facts = try manager.attributesOfItem(atPath: "\(folder)/\(name)")
        return "\(name) \(facts[.systemFileNumber] ?? 0) \(facts[.modificationDate] ?? 0)"
      }
    }
  }

  extension String {
    /// How often it has another.
    fileprivate func count(of text: String) -> Int { components(separatedBy: text).count - 1 }
  }
#endif
