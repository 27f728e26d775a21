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
        _ = try record("second.mkv", environment)
        #expect(try facts(of: folder) == made)
      }
    }

    @Test func whereItCannotBeMadeTheLogSaysSoAndTheBroadcastGoesOn() throws {
      try withWatchdog {
        let registry = "/proc/none/registry"
        let log = try record("out.mkv", ["GST_REGISTRY": registry])
        #expect(log.contains("since \(registry) cannot be made"), "\(log)")
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
#endif
