#if Media
  import Foundation
  import TestSupport
  import Testing

  /// The memory of the built-in uploader, with sound and the pictures of a usual screen.
  @Suite struct BroadcastMemoryTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// The strictest limit of an extension. One that exceeds it would be stopped and restarted.
    @Test func uploaderRecords720pWithSoundInFiftyMebibytes() throws {
      try withWatchdog {
        let path = bench.file("out.mkv")
        let manifest = bench.file("up.toml")
        try """
        version = 1
        id = "up"
        executable = "framebus-upload"
        arguments = ["file:\(path)"]
        samples = ["video", "audio-app"]
        memory-limit-mb = 50
        writes = ["\(path)"]
        """.write(toFile: manifest, atomically: true, encoding: .utf8)
        try bench.framebus("extension", "register", manifest)
        let host = try RunningProgram(
          "framebus",
          [
            "--root", bench.root.path, "broadcast", "start", "up", "--yes", "--source",
            "test:flash",
            "--size", "1280x720", "--fps", "30", "--app-source", "beep:1000",
          ])
        // In steps, because a slow machine draws slowly.
        for count in [50, 100, 150] {
          try waitUntil("there are \(count) pictures: \(host.transcript)") {
            try pictureCount(path) >= count
          }
        }
        let status = try bench.framebus("broadcast", "status", "--json").output
        let object = try JSONSerialization.jsonObject(with: Data(status.utf8))
        let report = try #require(object as? [String: Any])
        #expect(report["attempt"] as? Int == 1, "\(status)")
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        #expect(try Heard(path).codecs.sorted() == ["h264", "opus"])
        let log = try bench.framebus("log").output
        #expect(log.contains("memory on: watched by its host"), "\(log)")
        #expect(!log.contains("exceeded its memory budget"), "\(log)")
      }
    }

    private func pictureCount(_ path: String) throws -> Int {
      let result = try run(
        "ffprobe",
        [
          "-v", "quiet", "-select_streams", "v", "-count_packets", "-show_entries",
          "stream=nb_read_packets", "-of", "csv=p=0", path,
        ])
      return Int(result.output.filter(\.isNumber)) ?? 0
    }
  }
#endif
