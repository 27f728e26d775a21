#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// One upload to a WHIP server, files and a playlist at once.
  @Suite(.serialized) struct SharedEncoderTests {
    private let root: TemporaryRoot
    private var web: String { root.file("web") }

    init() throws {
      root = try TemporaryRoot()
      try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: false)
    }

    private func start(_ arguments: [String]) throws -> RunningProgram {
      try RunningProgram(
        "framebus", arguments,
        environment: [
          "FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil, "FRAMEBUS_LOG_LEVEL": "trace",
        ])
    }

    private func upload(to server: WebServer, _ others: String...) throws -> RunningProgram {
      try start(
        ["upload", "whip:\(server.address("whip"))"] + others
          + ["--json", "--stream", "screen", "--stream", "audio.app"])
    }

    private func captures() throws -> [RunningProgram] {
      [
        try start(["capture", "test", "--size", "640x360", "--fps", "30"]),
        try start(["capture", "tone:440"]),
      ]
    }

    private struct Summary: Decodable {
      struct Part: Decodable {
        let output: String
        let state: String
        let bytes: Int
        let drops: Int
      }
      let frames: Int
      let repeated: Int
      let destinations: [Part]
    }

    private func summary(of upload: RunningProgram) throws -> Summary {
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      return try JSONDecoder().decode(Summary.self, from: Data(result.output.utf8))
    }

    /// The decoded pictures of a file, and the codec of its sound.
    private func content(of path: String) throws -> (pictures: Int, sound: String) {
      func entry(_ stream: String, _ name: String, _ arguments: [String] = []) throws -> String {
        let text = try output(
          of: "ffprobe",
          ["-v", "error"] + arguments + [
            "-select_streams", stream, "-show_entries", "stream=\(name)", "-of", "csv=p=0", path,
          ])
        return text.split(separator: "\n").first.map { String($0.prefix { $0 != "," }) } ?? ""
      }
      let count = try entry("v", "nb_read_frames", ["-count_frames"])
      return (Int(count) ?? 0, try entry("a", "codec_name"))
    }

    @Test func allReceiveWhatIsEncodedOnce() throws {
      let server = try WebServer("whip_server.py", ["0"])
      let captures = try captures()
      let (mkv, mp4) = (root.file("a.mkv"), root.file("b.mp4"))
      let upload = try upload(to: server, "file:\(mkv)", "file:\(mp4)", "hls:\(web)")
      try server.waitForFrames(90)
      try server.waitForPitch(440)
      let summary = try summary(of: upload)
      for capture in captures { try capture.end(with: SIGTERM) }
      #expect(server.lines("POST") == ["POST 201"])
      let sent = summary.frames + summary.repeated
      for (path, sound) in [(mkv, "opus"), (mp4, "aac"), (web + "/index.m3u8", "aac")] {
        let content = try content(of: path)
        // The playlist has the newest segments.
        let isComplete = path.hasSuffix(".m3u8") ? content.pictures > 30 : content.pictures == sent
        #expect(isComplete && content.sound == sound, "\(path): \(content) of \(sent)")
      }
      #expect(summary.destinations.count == 4)
      #expect(summary.destinations.allSatisfy { $0.state == "ended" && $0.bytes > 10_000 })
      let log = try start(["log", "--level", "trace", "--grep", "creating element"]).finish().output
      for encoder in ["x264enc", "opusenc", "avenc_aac"] {
        let count = log.components(separatedBy: "creating element \"\(encoder)\"").count - 1
        #expect(count == 1, "\(encoder)")
      }
    }

    /// The packets of sound as they are in a file or in a playlist's segments.
    private func packets(of path: String) throws -> [Substring] {
      try output(
        of: "ffprobe",
        [
          "-v", "error", "-select_streams", "a", "-show_packets", "-show_data_hash", "SHA160", path,
        ]
      ).split(separator: "\n").filter { $0.hasPrefix("data_hash=") }
    }

    private func encoders(in log: String) -> [String] {
      ["opusenc", "avenc_aac"].filter { log.contains("creating element \"\($0)\"") }
    }

    /// Beside a peer that needs Opus, a playlist has the same packets: sound is encoded once.
    @Test(arguments: [false, true])
    func playlistSharesThePeersSoundUnlessItAsksForAAC(asks: Bool) throws {
      let server = try WebServer("whip_server.py", ["0"])
      let captures = try captures()
      let mkv = root.file("a.mkv")
      let upload = try upload(to: server, "file:\(mkv)", "hls:\(web)\(asks ? "?sound=aac" : "")")
      try server.waitForFrames(90)
      _ = try summary(of: upload)
      for capture in captures { try capture.end(with: SIGTERM) }
      let (kept, sent) = (try packets(of: mkv), try packets(of: web + "/index.m3u8"))
      let first = try #require(kept.firstIndex { sent.first == $0 } ?? (asks ? 0 : nil))
      #expect(sent.count > 100)
      #expect(kept.dropFirst(first).prefix(sent.count).elementsEqual(sent) != asks)
      let sound = try content(of: web + "/index.m3u8").sound
      #expect(sound == (asks ? "aac" : "opus"))
      let log = try start(["log", "--level", "trace", "--grep", "creating element"]).finish().output
      #expect(encoders(in: log) == (asks ? ["opusenc", "avenc_aac"] : ["opusenc"]))
      struct Sight: Decodable {
        let ended: Bool
        let sound: Int
        let errors: [String]
      }
      let player = try RunningProgram("/usr/bin/python3", [tool("play_hls.py"), web])
      try waitUntil("the end, with sound: \(player.transcript)") {
        let line = player.output.text.split(separator: "\n").last ?? ""
        let sight = try? JSONDecoder().decode(Sight.self, from: Data(line.utf8))
        return sight.map { $0.ended && $0.sound > 10_000 && $0.errors.isEmpty } ?? false
      }
      try player.end(with: SIGTERM)
    }

    @Test func playlistThatIsAddedSharesThePeersSound() throws {
      let server = try WebServer("whip_server.py", ["0"])
      let captures = try captures()
      let upload = try upload(to: server, "file:\(root.file("a.mkv"))", "--follow")
      try server.waitForFrames(20)
      let added = try start(["upload", "add", "hls:\(web)"]).finish()
      #expect(added.status == .exited(0), "\(added.errors)")
      try waitUntil("two segments: \(upload.transcript)") {
        FileManager.default.fileExists(atPath: web + "/segment00001.m4s")
      }
      #expect(try summary(of: upload).destinations.count == 3)
      for capture in captures { try capture.end(with: SIGTERM) }
      #expect(try content(of: web + "/index.m3u8").sound == "opus")
    }

    @Test func serverThatIsKilledAndComesBackDisturbsNoFile() throws {
      let first = try WebServer("whip_server.py", ["0"])
      let captures = try captures()
      let mkv = root.file("a.mkv")
      let upload = try upload(to: first, "file:\(mkv)", "hls:\(web)")
      try first.waitForFrames(20)
      try first.program.end(with: SIGKILL)
      try upload.waitForErrors("trying again")
      let again = try WebServer("whip_server.py", ["\(first.port)"])
      try again.waitForFrames(60)
      let summary = try summary(of: upload)
      for capture in captures { try capture.end(with: SIGTERM) }
      #expect(try content(of: mkv).pictures == summary.frames + summary.repeated)
      #expect(summary.destinations.map { $0.drops > 0 } == [true, false, false])
      #expect(summary.destinations.allSatisfy { $0.state == "ended" })
    }

    /// It refuses the offer, or answers that it takes the sound alone.
    @Test(arguments: ["codec=VP8", "refuses=video"])
    func serverThatTakesNoH264EndsWithAdviceAndOthersGoOn(conduct: String) throws {
      let server = try WebServer("whip_server.py", ["0", conduct])
      let captures = try captures()
      let mkv = root.file("a.mkv")
      let upload = try upload(to: server, "file:\(mkv)", "hls:\(web)")
      try upload.waitForErrors("start an upload to it alone")
      try waitUntil("later segments: \(upload.transcript)") {
        FileManager.default.fileExists(atPath: web + "/segment00001.m4s")
      }
      let result = try upload.end(with: SIGTERM)
      for capture in captures { try capture.end(with: SIGTERM) }
      #expect(result.status == .exited(1), "\(result.errors)")
      #expect(result.errors.contains("has ended, and the others go on"), "\(result.errors)")
      #expect(!result.errors.contains("trying again"), "\(result.errors)")
      let summary = try JSONDecoder().decode(Summary.self, from: Data(result.output.utf8))
      #expect(summary.destinations.map(\.state) == ["failed", "ended", "ended"])
      #expect(summary.destinations.dropFirst().allSatisfy { $0.drops == 0 })
      #expect(try content(of: mkv).pictures == summary.frames + summary.repeated)
    }

    /// The others are complete, and the status says that one is not.
    @Test func serverThatIsNeverThereIsAnErrorAtTheEnd() throws {
      let captures = try captures()
      let mkv = root.file("a.mkv")
      let port = try OwnPort()
      let upload = try start([
        "upload", "whip:http://127.0.0.1:\(port.number)/whip", "file:\(mkv)", "--json", "--frames",
        "40",
      ])
      let result = try upload.finish()
      for capture in captures { try capture.end(with: SIGTERM) }
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("/whip is not complete: "), "\(result.errors)")
      let summary = try JSONDecoder().decode(Summary.self, from: Data(result.output.utf8))
      #expect(summary.destinations.map(\.state) == ["waiting", "ended"])
      #expect(try content(of: mkv).pictures == summary.frames + summary.repeated)
    }
  }
#endif
