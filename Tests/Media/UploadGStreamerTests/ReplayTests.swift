#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// `framebus upload replay:` and `framebus replay`, as a user runs them.
  @Suite struct ReplayTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    private func upload(_ length: String, _ arguments: [String] = []) throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["upload", "replay:\(length)", "--root", bench.root.path] + arguments)
    }

    private func replay(_ arguments: String...) throws -> ProgramResult {
      try run("framebus", ["replay"] + arguments + ["--root", bench.root.path])
    }

    private struct Row: Decodable {
      let stream: String
      let state: String
      let held_seconds: Double
      let memory_bytes: Int
    }

    private func rows() throws -> [Row] {
      let status = try replay("status", "--json")
      // The first program of a test creates the group.
      if status.status != .exited(0) { return [] }
      return try JSONDecoder().decode([Row].self, from: Data(status.output.utf8))
    }

    private func waitUntilHeld(_ seconds: Double) throws {
      try waitUntil("\(seconds) s") { try rows().first.map { $0.held_seconds >= seconds } == true }
    }

    /// The time of each picture, and whether it is a key frame.
    private func pictures(_ path: String) throws -> [(time: Double, isKey: Bool)] {
      try output(
        of: "ffprobe",
        [
          "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of",
          "csv=p=0", path,
        ]
      ).split(separator: "\n").compactMap { line in
        let fields = line.split(separator: ",")
        return Double(fields[0]).map { ($0, fields[1].hasPrefix("K")) }
      }
    }

    /// The pictures of a saved file begin at a key frame, and span the requested time ± 0.5 s.
    private func check(_ path: String, seconds: Double) throws {
      let pictures = try pictures(path)
      let (first, last) = (try #require(pictures.first), try #require(pictures.last))
      #expect(first.isKey && first.time < 0.05, "\(first)")
      #expect(abs(last.time - first.time - seconds) <= 0.5, "\(path): \(first) to \(last)")
      let decoded = try run(
        "ffprobe",
        [
          "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
          "stream=nb_read_frames", "-of", "csv=p=0", path,
        ])
      #expect(decoded.errors.isEmpty, "\(decoded.errors)")
      #expect(decoded.output.firstMatch(of: /\d+/).flatMap { Int($0.output) } == pictures.count)
    }

    @Test func savedFileBeginsWhereRequestedWhileTheUploadRunsAndAfterItWasKilled() throws {
      let flashes = try bench.capture("test:flash", "--size", "320x240")
      let beeps = try bench.capture("beep:1000")
      let first = try upload("3s", ["--stream", "screen", "--stream", "audio.app"])
      try waitUntilHeld(3)
      let (whole, part) = (bench.file("whole.mkv"), bench.file("part.mp4"))
      #expect(try replay("save", whole).status == .exited(0))
      #expect(try replay("save", part, "--last", "1.5s").status == .exited(0))
      #expect(try replay("save", part, "--crashed").errors.contains("no crashed uploader"))
      try check(whole, seconds: 3)
      try check(part, seconds: 1.5)
      for path in [whole, part] {
        let heard = try Heard(path)
        #expect(heard.codecs.sorted() == ["aac", "h264"])
        // The shorter one may have a single flash, which a busy machine may draw late.
        if path == whole { #expect(try abs(#require(heard.skew)) < 0.05) }
      }
      try first.end(with: SIGKILL)
      // The next upload keeps what the killed one left.
      let second = try upload("2s")
      try waitUntil("both") { try rows().map(\.state).sorted() == ["crashed", "live"] }
      let killed = bench.file("killed.mkv")
      let saved = try replay("save", killed, "--crashed", "--json")
      #expect(saved.status == .exited(0) && saved.output.contains("\"is_crashed\":true"))
      try check(killed, seconds: 3)
      #expect(try replay("remove").status == .exited(0))
      #expect(try second.end(with: SIGTERM).status == .exited(0))
      // An upload that ends as its user wants leaves nothing in memory.
      #expect(try rows().isEmpty)
      #expect(try replay("save", killed).errors.contains("there is no replay of “screen”"))
      for capture in [flashes, beeps] { try capture.end(with: SIGTERM) }
    }

    @Test func eachPostIsSavedToAFileOfItsOwn() throws {
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let (clip, second) = (bench.file("clip.mkv"), bench.file("clip-2.mkv"))
      let watch = try RunningProgram(
        "framebus",
        [
          "replay", "save", clip, "--on", "studio.clip", "--count", "3", "--json", "--root",
          bench.root.path,
        ])
      try watch.waitForErrors("saving at posts of studio.clip")
      // A post with nothing to save does not end the watch, nor take a name.
      try bench.framebus("notify", "post", "studio.clip")
      try watch.waitForErrors("there is no replay of “screen”")
      let upload = try upload("2s")
      try waitUntilHeld(1)
      for path in [clip, second] {
        try bench.framebus("notify", "post", "studio.clip")
        try watch.waitForOutput(path.split(separator: "/").last.map(String.init) ?? path)
      }
      #expect(try watch.finish().status == .exited(0), "\(watch.transcript)")
      for path in [clip, second] { #expect(try self.pictures(path).first?.isKey == true) }
      let early = try replay("save", clip, "--on", "studio.clip", "--timeout", "0")
      #expect(early.status == .exited(1) && early.errors.contains("timed out after 0 posts"))
      #expect(try replay("save", clip, "--count", "2").status == .exited(2))
      try upload.end(with: SIGTERM)
      try pictures.end(with: SIGTERM)
    }

    /// A black box: the host saves the last minute by itself, and restarts the extension. The
    /// replay is that of the broadcast's own stream.
    @Test func hostSavesTheMinuteOfAKilledExtension() throws {
      try withWatchdog {
        let box = bench.file("box.mkv")
        let host = try bench.broadcast(
          to: "replay:3s",
          ["--app-source", "beep:1000", "--on-crash", box, "--stream", "camera"])
        try waitUntilHeld(2)
        #expect(try rows().map(\.stream) == ["camera"])
        for path in [box, bench.file("box-2.mkv")] {
          let pid = try #require(try extensionPID())
          #expect(kill(pid, SIGKILL) == 0)
          try host.waitForErrors("last minute before the crash: \(path)")
          try check(path, atLeast: 1)
          try waitUntil("the restart: \(host.transcript)") {
            try rows().contains { $0.state == "live" && $0.held_seconds >= 1.5 }
          }
        }
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }

    @Test func hostRefusesToSaveCrashesOfAnExtensionWithoutReplay() throws {
      let host = try bench.broadcast(
        to: "file:\(bench.file("a.mkv"))", ["--on-crash", bench.file("box.mkv")])
      let result = try host.finish()
      #expect(result.status == .exited(2))
      #expect(result.errors.contains("framebus.upload does not upload to replay:"), "\(result)")
      // What another program keeps, only that knows.
      let manifest = bench.file("own.toml")
      try "version = 1\nid = \"own\"\nexecutable = \"/bin/false\"\n".write(
        toFile: manifest, atomically: true, encoding: .utf8)
      try bench.framebus("extension", "register", manifest)
      let other = try run(
        "framebus",
        [
          "--root", bench.root.path, "broadcast", "start", "own", "--source", "test:bars", "--yes",
          "--restarts", "0", "--on-crash", bench.file("box.mkv"),
        ])
      #expect(other.status == .exited(1))
      #expect(
        other.errors.contains("saves nothing unless /bin/false uploads to replay:"), "\(other)")
    }

    private func extensionPID() throws -> pid_t? {
      struct Status: Decodable {
        struct Role: Decodable { let pid: pid_t? }
        let roles: [String: Role]
      }
      let text = try bench.framebus("broadcast", "status", "--json").output
      return try JSONDecoder().decode(Status.self, from: Data(text.utf8)).roles["extension"]?.pid
    }

    private func check(_ path: String, atLeast seconds: Double) throws {
      let pictures = try pictures(path)
      let (first, last) = (try #require(pictures.first), try #require(pictures.last))
      #expect(first.isKey && last.time - first.time >= seconds, "\(first) to \(last)")
      #expect(try Heard(path).codecs.sorted() == ["aac", "h264"])
    }

    /// Nobody can see in the uploader's log what the file had.
    @Test func damagedReplayIsRefusedOrSavedInPart() throws {
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try upload("2s", ["--stream", "screen"])
      try waitUntilHeld(1)
      let path = try #require(
        FileManager.default.enumerator(atPath: bench.root.path)?.compactMap { $0 as? String }
          .first { $0.hasSuffix("screen.replay") })
      try upload.end(with: SIGKILL)
      try pictures.end(with: SIGTERM)
      let file = try FileHandle(forUpdating: URL(filePath: bench.file(path)))
      let bytes = try #require(try file.readToEnd())
      let saved = bench.file("saved.mkv")
      // The middle of the data, all of it, the index, the head, the end of the file.
      for (offset, count, isSaved) in [
        (70_000, 64, true), (69_632, 1 << 20, false), (4096, 65_536, false), (0, 64, false),
      ] {
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(repeating: 0xA5, count: count))
        let result = try replay("save", saved)
        #expect(result.status == .exited(isSaved ? 0 : 1), "\(offset): \(result.errors)")
        #expect(isSaved || result.errors.contains("error: "), "\(result.errors)")
        try file.seek(toOffset: 0)
        try file.write(contentsOf: bytes)
      }
      try file.truncate(atOffset: 100_000)
      #expect(try replay("save", saved).errors.contains("is not a replay: its head is damaged"))
      #expect(try rows().map(\.state) == ["damaged"])
    }

    /// Key frames for the replay, and segments of the usual length, from one encoder.
    @Test func replayBesideOtherDestinationsBeginsWhereRequested() throws {
      let web = bench.file("web")
      try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: false)
      let flashes = try bench.capture("test:flash", "--size", "320x240")
      let beeps = try bench.capture("beep:1000")
      let upload = try upload(
        "4s",
        [
          "hls:\(web)", "file:\(bench.file("a.mkv"))", "--stream", "screen", "--stream",
          "audio.app",
        ])
      try waitUntilHeld(4)
      // With a key frame every two seconds, one of them would be further away than half a second.
      for seconds in [1.5, 2, 2.5, 3] {
        let saved = bench.file("saved.mkv")
        #expect(try replay("save", saved, "--last", "\(seconds)s").status == .exited(0))
        try check(saved, seconds: seconds)
      }
      try upload.end(with: SIGKILL)
      let killed = bench.file("killed.mp4")
      #expect(try replay("save", killed).status == .exited(0))
      try check(killed, seconds: 4)
      let heard = try Heard(killed)
      #expect(heard.codecs.sorted() == ["aac", "h264"])
      #expect(try abs(#require(heard.skew)) < 0.05)
      let lengths = try String(contentsOfFile: web + "/index.m3u8", encoding: .utf8)
        .matches(of: /#EXTINF:([\d.]+)/).compactMap { Double($0.1) }
      #expect(!lengths.isEmpty && lengths.dropFirst().allSatisfy { $0 > 1.5 }, "\(lengths)")
      for capture in [flashes, beeps] { try capture.end(with: SIGTERM) }
    }

    @Test(arguments: ["replay:0s", "replay:1h", "replay:-5", "replay:nan", "replay:601s"])
    func malformedLengthIsMisuse(destination: String) throws {
      let result = try run("framebus", ["upload", destination, "--root", bench.root.path])
      #expect(result.status == .exited(2), "\(result.errors)")
      #expect(result.errors.contains("write 1s to 600s"), "\(result.errors)")
    }
  }
#endif
