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

    @Test func soundAloneReachesEachContainer() throws {
      let web = bench.file("web")
      try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: false)
      let sound = try bench.capture("tone:440")
      let files = ["a.mkv", "b.mp4"].map(bench.file)
      let result = try upload(
        "file:\(files[0])", "file:\(files[1])", "hls:\(web)", "--stream", "audio.app",
        "--frames", "300"
      ).finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      for (path, codec) in zip(files + [web + "/index.m3u8"], ["opus", "aac", "aac"]) {
        let heard = try Heard(path)
        #expect(heard.codecs.first == codec)
        #expect(abs(try #require(heard.hertz) - 440) < 1, "\(path)")
      }
      try sound.end(with: SIGTERM)
    }

    @Test func destinationsAreAddedAndRemovedWhileItRuns() throws {
      let web = bench.file("web")
      try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: false)
      let file = bench.file("a.mkv")
      func change(_ verb: String, _ destination: String) throws -> ProgramResult {
        try run("framebus", ["upload", verb, destination, "--root", bench.root.path])
      }
      func playlist() -> String {
        (try? String(contentsOfFile: web + "/index.m3u8", encoding: .utf8)) ?? ""
      }
      let publisher = try publish("XR24:320x240:6000:33333")
      let upload = try upload("file:\(file)", "--follow")
      try bench.waitForBytes(10_000, in: "a.mkv")
      #expect(try change("add", "hls:\(web)").status == .exited(0))
      try waitUntil("a segment: \(upload.transcript)") { playlist().contains("segment00000.m4s") }
      #expect(try change("remove", "hls:\(web)").status == .exited(0))
      try waitUntil("its end: \(upload.transcript)") { playlist().contains("ENDLIST") }
      #expect(try pictures(in: web + "/index.m3u8") > 10)
      #expect(try change("add", "png:\(bench.file("a.png"))").status == .exited(0))
      try upload.waitForErrors("cannot be one of several")
      let size = try FileManager.default.attributesOfItem(atPath: file)[.size]
      try bench.waitForBytes((size as? Int ?? 0) + 10_000, in: "a.mkv")
      let ended = try upload.end(with: SIGTERM)
      #expect(ended.status == .exited(0), "\(ended.errors)")
      let result = try decoded(ended.output)
      #expect(result.destinations.map(\.state) == ["ended", "ended"], "\(ended.output)")
      #expect(try pictures(in: file) == result.frames + result.repeated)
      let secret = try change("add", "rtmp://user:word@127.0.0.1:9/a/b")
      #expect(secret.status == .exited(2) && !secret.errors.contains("word"), "\(secret.errors)")
      try publisher.end(with: SIGTERM)
    }

    /// All have the pictures of one encoder, which has the size of the first.
    @Test func picturesOfAnotherSizeAreScaledForAll() throws {
      let web = bench.file("web")
      try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: false)
      let publisher = try RunningProgram(
        "UploadTestPublisher",
        [
          bench.root.path, "screen", "live", "XR24:320x240:90:33333", "XR24:640x360:90:33333",
          "XR24:160x120:90:33333",
        ])
      let file = bench.file("a.mkv")
      let ended = try upload("file:\(file)", "hls:\(web)").finish()
      #expect(ended.status == .exited(0), "\(ended.errors)")
      let result = try decoded(ended.output)
      #expect(result.destinations.map(\.state) == ["ended", "ended"], "\(ended.output)")
      for path in [file, web + "/index.m3u8"] {
        let sizes = try output(
          of: "ffprobe",
          [
            "-v", "error", "-select_streams", "v", "-show_entries", "frame=width,height", "-of",
            "csv=p=0", path,
          ]
        ).split(separator: "\n").map { $0.split(separator: ",").prefix(2).joined(separator: "×") }
        #expect(sizes.count == result.frames + result.repeated, "\(path): \(sizes.count)")
        #expect(Set(sizes) == ["320×240"], "\(path)")
      }
      let playlist = try String(contentsOfFile: web + "/index.m3u8", encoding: .utf8)
      #expect(!playlist.contains("#EXT-X-DISCONTINUITY\n"), "\(playlist)")
      try publisher.finish()
    }

    @Test func combinationsThatCannotWorkAreUsageErrors() throws {
      let file = "file:\(bench.file("a.mkv"))"
      let cases: [([String], String)] = [
        ([file, "png:\(bench.file("a.png"))"], "cannot be one of several"),
        ([file, file], "is named twice"),
        ([file, "whip"], "whip alone cannot be"),
        ([file, "udp:127.0.0.1:9", "--encoder", "vp8"], "does not take"),
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
