#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Several destinations of one upload, some of which fail.
  @Suite struct SharedDestinationTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    private func upload(_ arguments: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["upload"] + arguments + ["--root", bench.root.path, "--json"])
    }

    private func publish(_ pictures: String) throws -> RunningProgram {
      try RunningProgram("UploadTestPublisher", [bench.root.path, "screen", "live", pictures])
    }

    private struct Result: Decodable {
      struct Part: Decodable {
        let output: String
        let state: String
        let drops: Int
        let error: String?
      }
      let frames: Int
      let repeated: Int
      let destinations: [Part]
    }

    private func decoded(_ text: String) throws -> Result {
      try JSONDecoder().decode(Result.self, from: Data(text.utf8))
    }

    private func pictures(in path: String) throws -> Int {
      let text = try output(
        of: "ffprobe",
        [
          "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
          "stream=nb_read_frames", "-of", "csv=p=0", path,
        ])
      return Int(text.prefix { $0.isNumber }) ?? 0
    }

    @Test func serverThatStopsReadingDisturbsNoFile() throws {
      let port = try bench.freePort()
      let server = try bench.nginx(port)
      let publisher = try publish("NOIS:320x240:6000:33333")
      let upload = try upload(
        "rtmp://127.0.0.1:\(port)/live/cam", "file:\(bench.file("a.mkv"))", "--bitrate", "2500k")
      try bench.waitForBytes(100_000, in: "cam.flv")
      server.process.send(signal: SIGSTOP)
      try waitUntil("drops: \(upload.transcript)") {
        upload.errors.text.contains(/cam: delivering, [\d.]+ MB, [1-9]\d+ drops/)
      }
      server.process.send(signal: SIGCONT)
      let size = try FileManager.default.attributesOfItem(atPath: bench.file("cam.flv"))[.size]
      try bench.waitForBytes((size as? Int ?? 0) + 200_000, in: "cam.flv")
      let ended = try upload.end(with: SIGTERM)
      #expect(ended.status == .exited(0), "\(ended.errors)")
      let result = try decoded(ended.output)
      #expect(result.destinations.map { $0.drops > 0 } == [true, false], "\(ended.output)")
      #expect(try pictures(in: bench.file("a.mkv")) == result.frames + result.repeated)
      try publisher.end(with: SIGTERM)
      try server.end(with: SIGQUIT)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
    func fullDiskEndsItsOwnFileAlone() throws {
      let disk = try SmallDisk(mebibytes: 4)
      let upload = try upload(
        "file:\(disk.path)/out.mkv", "file:\(bench.file("a.mkv"))", "--bitrate", "8M")
      let publisher = try publish("NOIS:640x480:2000:20000")
      try upload.waitForErrors("out.mkv has ended, and the others go on: no space left")
      let size = try FileManager.default.attributesOfItem(atPath: bench.file("a.mkv"))[.size]
      try bench.waitForBytes((size as? Int ?? 0) + 100_000, in: "a.mkv")
      let ended = try upload.end(with: SIGTERM)
      #expect(ended.status == .exited(1))
      let result = try decoded(ended.output)
      #expect(result.destinations.map(\.state) == ["failed", "ended"], "\(ended.output)")
      #expect(try pictures(in: disk.path + "/out.mkv") > 10)
      #expect(try pictures(in: bench.file("a.mkv")) == result.frames + result.repeated)
      try publisher.end(with: SIGTERM)
    }

    @Test func combinationsThatCannotWorkAreUsageErrors() throws {
      let file = "file:\(bench.file("a.mkv"))"
      let cases: [([String], String)] = [
        ([file, "png:\(bench.file("a.png"))"], "cannot be one of several"),
        ([file, file], "is named twice"),
        ([file, "whip"], "whip alone cannot be"),
        ([file, "udp:127.0.0.1:9", "--encoder", "vp8"], "no encoder “vp8”"),
        (
          ["rtmp://127.0.0.1:9/a/b", "srt://127.0.0.1:9", "--secret", "a/b"],
          "--secret: only one of the destinations"
        ),
      ]
      for (arguments, message) in cases {
        let result = try RunningProgram(
          "framebus", ["upload"] + arguments + ["--root", bench.root.path]
        ).finish()
        #expect(result.status == .exited(2), "\(arguments): \(result.errors)")
        #expect(result.errors.contains(message), "\(result.errors)")
      }
      #expect(!FileManager.default.fileExists(atPath: bench.file("a.mkv")))
    }
  }
#endif
