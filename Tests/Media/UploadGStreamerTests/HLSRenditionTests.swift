#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// `hls:` in two sizes, and in the directory of somebody else.
  @Suite struct HLSRenditionTests {
    private let bench: SoundBench
    private let main: HLSDirectory
    private let small: HLSDirectory

    init() throws {
      bench = try SoundBench()
      main = try HLSDirectory(bench.file("web"), playlist: "main.m3u8")
      small = try HLSDirectory(bench.file("web"), playlist: "small.m3u8")
    }

    private func upload(_ options: String, _ arguments: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus",
        ["upload", "hls:\(main.path)\(options)", "--root", bench.root.path] + arguments)
    }

    /// The attributes of each variant, by the name of its playlist.
    private func variants() throws -> [String: [String: String]] {
      let text = try String(contentsOfFile: main.path + "/index.m3u8", encoding: .utf8)
      let lines = text.split(separator: "\n").map(String.init)
      #expect(lines.first == "#EXTM3U" && lines.contains("#EXT-X-INDEPENDENT-SEGMENTS"))
      let tag = "#EXT-X-STREAM-INF:"
      var found: [String: [String: String]] = [:]
      for (line, name) in zip(lines, lines.dropFirst()) where line.hasPrefix(tag) {
        for part in line.dropFirst(tag.count).matches(of: /([A-Z-]+)=("[^"]*"|[^",]*)/) {
          found[name, default: [:]][String(part.output.1)] = String(part.output.2)
        }
      }
      return found
    }

    @Test func renditionsHaveTheSameSegmentsAndTrueAttributes() throws {
      let pictures = try bench.capture("test:bars", "--size", "640x480", "--fps", "30")
      let sound = try bench.capture("tone:440")
      let upload = try upload(
        "?small=240", "--stream", "screen", "--stream", "audio.app", "--bitrate", "800k")
      try main.wait(for: "three segments") { $0.segments.count >= 3 }
      let first = try variants()
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      for capture in [pictures, sound] { try capture.end(with: SIGTERM) }
      for web in [main, small] {
        web.look()
        #expect(web.broken.isEmpty, "\(web.broken)")
      }
      let (large, reduced) = (try #require(main.newest), try #require(small.newest))
      #expect(large.segments.map(\.seconds) == reduced.segments.map(\.seconds))
      #expect(large.segments.map(\.date) == reduced.segments.map(\.date))
      #expect(large.sequence == reduced.sequence && large.isEnded && reduced.isEnded)
      for (one, other) in zip(large.segments, reduced.segments) {
        let (ours, theirs) = (try main.pictures(in: one), try small.pictures(in: other))
        #expect(ours.keys == [0] && theirs.keys == [0] && ours.count == theirs.count)
      }
      let last = try variants()
      for (web, size) in [(main, "640x480"), (small, "320x240")] {
        for variant in [first[web.playlist], last[web.playlist]] {
          let variant = try #require(variant)
          #expect(variant["RESOLUTION"] == size && variant["FRAME-RATE"] == "30.000")
          let codecs = try #require(variant["CODECS"])
          #expect(codecs.contains(/"avc1\.[0-9A-F]{6},mp4a\.40\.2"/), "\(codecs)")
        }
        // While it runs, a limit; at the end, the true peak.
        let peak = try peak(of: web)
        #expect(try #require(first[web.playlist]?["BANDWIDTH"].flatMap { Int($0) }) >= peak)
        #expect(last[web.playlist]?["BANDWIDTH"] == "\(peak)")
      }
      #expect(first.count == 2)
    }

    /// The highest rate of a segment of half a target duration or more.
    private func peak(of web: HLSDirectory) throws -> Int {
      let playlist = try #require(web.newest)
      var before = (bits: 0.0, seconds: 0.0)
      return try playlist.segments.reduce(0) { most, segment in
        let attributes = try FileManager.default.attributesOfItem(
          atPath: "\(web.path)/\(segment.name)")
        let bits = Double(attributes[.size] as? Int ?? 0) * 8
        defer { before = (bits, segment.seconds) }
        let isShort = segment.seconds * 2 < Double(playlist.target)
        let rate =
          isShort
          ? (bits + before.bits) / max(1, segment.seconds + before.seconds)
          : bits / segment.seconds
        return max(most, Int(rate.rounded(.up)))
      }
    }

    /// A name like ours makes no file ours, neither beside our playlist nor beside our record.
    @Test func filesOfOthersStay() throws {
      let web = try HLSDirectory(bench.file("shared"))
      let others = [
        "segment00009.m4s", "segment00010.ts", "segment00009.init.mp4", "small00001.m4s",
      ]
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      func upload() throws -> RunningProgram {
        try RunningProgram(
          "framebus", ["upload", "hls:\(web.path)", "--root", bench.root.path])
      }
      let first = try upload()
      try web.wait(for: "a segment") { !$0.segments.isEmpty }
      try first.end(with: SIGKILL)
      for name in others {
        try "kept".write(toFile: "\(web.path)/\(name)", atomically: true, encoding: .utf8)
      }
      let second = try upload()
      try web.wait(for: "a removed segment") { $0.sequence > 1 }
      #expect(try second.end(with: SIGTERM).status == .exited(0), "\(second.transcript)")
      for name in others {
        let text = try? String(contentsOfFile: "\(web.path)/\(name)", encoding: .utf8)
        #expect(text == "kept", "\(name)")
      }
      #expect(web.broken.isEmpty, "\(web.broken)")
      try pictures.end(with: SIGTERM)
    }

    private struct Sight: Decodable {
      let time: Double
      let width: Int
      let frames: Int
      let ended: Bool
      let errors: [String]
    }

    /// The player follows discontinuities: a larger window, and an upload that was killed.
    @Test func browserPlaysAcrossAnotherSizeAndKilledUpload() throws {
      let web = try HLSDirectory(bench.file("played"))
      func upload() throws -> RunningProgram {
        try RunningProgram("framebus", ["upload", "hls:\(web.path)", "--root", bench.root.path])
      }
      let first = try bench.capture("test:bars", "--size", "320x240")
      let killed = try upload()
      // Three target durations (RFC 8216, 6.3.3). Chromium 156 fails on shorter live playlists.
      try web.wait(for: "five segments") { $0.segments.count >= 5 }
      let player = try RunningProgram("/usr/bin/python3", [tool("play_hls.py"), web.path])
      func wait(for what: String, _ condition: (Sight) -> Bool) throws {
        try waitUntil("\(what): \(player.transcript)") {
          web.look()
          let line = player.output.text.split(separator: "\n").last ?? ""
          let sight = try? JSONDecoder().decode(Sight.self, from: Data(line.utf8))
          return sight.map(condition) ?? false
        }
      }
      try wait(for: "pictures") { $0.width == 320 && $0.frames > 10 }
      try first.end(with: SIGKILL)
      try killed.waitForErrors("the publisher is gone")
      let second = try bench.capture("test:bars", "--size", "480x240")
      try wait(for: "the second size") { $0.width == 480 }
      try killed.end(with: SIGKILL)
      let again = try upload()
      let next = web.newest?.next ?? 0
      try web.wait(for: "segments of the second upload") { $0.next >= next + 2 }
      try second.end(with: SIGKILL)
      try again.waitForErrors("the publisher is gone")
      let third = try bench.capture("test:bars", "--size", "400x240")
      try wait(for: "pictures of the second upload") { $0.width == 400 && $0.errors.isEmpty }
      try player.end(with: SIGTERM)
      #expect(try again.end(with: SIGTERM).status == .exited(0), "\(again.transcript)")
      try third.end(with: SIGTERM)
      #expect(web.broken.isEmpty, "\(web.broken)")
    }

    @Test(arguments: [
      "?small=no", "?small=1", "?segments=avi", "?x", "?small=240&segments=ts", "?sound=mp3",
    ])
    func unusableOptionsAreUsageErrors(options: String) throws {
      let result = try upload(options).finish()
      #expect(result.status == .exited(2), "\(result.errors)")
    }

    @Test func directoryWithQuestionMarkIsNamedByItsCode() throws {
      let web = try HLSDirectory(bench.file("a?b%"))
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus",
        ["upload", "hls:\(bench.file("a%3Fb%"))", "--root", bench.root.path])
      try web.wait(for: "a segment") { !$0.segments.isEmpty }
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try pictures.end(with: SIGTERM)
    }

    @Test func secondRenditionNeedsEncoderOfItsOwn() throws {
      let result = try upload("?small=240", "file:\(bench.file("a.mkv"))").finish()
      #expect(result.status == .exited(2))
      #expect(result.errors.contains("cannot be one of several"), "\(result.errors)")
    }
  }
#endif
