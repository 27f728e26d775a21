#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Playlists of `hls:` by the rules of RFC 8216, and by players.
  @Suite struct HLSTests {
    private let bench: SoundBench
    private let web: HLSDirectory

    init() throws {
      bench = try SoundBench()
      web = try HLSDirectory(bench.file("web"))
    }

    private func upload(_ options: String = "") throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["upload", "hls:\(web.path)\(options)", "--root", bench.root.path])
    }

    /// Through a killed upload, a killed publisher, another size, and the end.
    @Test(arguments: ["", "?segments=ts"])
    func playlistsObeyRFC8216AcrossCrashes(options: String) throws {
      let small = try bench.capture("test:bars", "--size", "320x240")
      let started = Date()
      let first = try upload(options)
      try web.wait(for: "two segments") { $0.segments.count >= 2 }
      try first.end(with: SIGKILL)
      let second = try upload(options)
      try web.wait(for: "a segment of the second upload") { $0.next >= 4 }
      #expect(web.newest?.segments.contains(where: \.isDiscontinuous) == true)
      // The publisher is away in the middle of a segment, and comes back with another size.
      try small.end(with: SIGKILL)
      try second.waitForErrors("the publisher is gone")
      let wide = try bench.capture("test:bars", "--size", "480x240")
      try web.wait(for: "removed segments") { $0.sequence >= 2 }
      try wide.end(with: SIGKILL)
      try waitUntil("the second loss") {
        second.errors.text.components(separatedBy: "the publisher is gone").count > 2
      }
      let again = try bench.capture("test:bars", "--size", "480x240")
      let next = web.newest?.next ?? 0
      try web.wait(for: "segments of the third publisher") { $0.next >= next + 2 }
      try checkPictures()
      #expect(try second.end(with: SIGTERM).status == .exited(0), "\(second.transcript)")
      web.look()
      try again.end(with: SIGTERM)
      let last = try #require(web.newest)
      #expect(last.isEnded && last.isIndependent)
      #expect(last.discontinuities + last.segments.count(where: \.isDiscontinuous) >= 2)
      let dates = last.segments.compactMap(\.date)
      #expect(dates.count == last.segments.count && zip(dates, dates.dropFirst()).allSatisfy(<))
      #expect(dates.allSatisfy { $0 > started && $0 < Date() })
      #expect(web.broken.isEmpty, "\(web.broken)")
      try playersReachTheEnd(last)
    }

    /// Each segment begins with its only key frame.
    private func checkPictures() throws {
      for segment in try #require(web.newest).segments {
        let pictures = try web.pictures(in: segment)
        #expect(pictures.keys == [0], "\(segment.name) of \(pictures.count)")
      }
    }

    private func playersReachTheEnd(_ playlist: ReadPlaylist) throws {
      let decoded = try output(
        of: "ffprobe",
        [
          "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
          "stream=nb_read_frames", "-of", "csv=p=0", web.path + "/index.m3u8",
        ])
      let written = try playlist.segments.reduce(0) { try $0 + web.pictures(in: $1).count }
      #expect(decoded.firstMatch(of: /\d+/).flatMap { Int($0.output) } == written)
      let demuxer = playlist.segments.allSatisfy { $0.map != nil } ? "qtdemux" : "tsdemux"
      let played = try run(
        "gst-launch-1.0",
        [
          "-q", "filesrc", "location=\(web.path)/index.m3u8", "!", "hlsdemux", "!", demuxer, "!",
          "h264parse", "!", "avdec_h264", "!", "fakesink", "sync=false",
        ])
      #expect(played.status == .exited(0), "\(played.errors)")
    }

    /// A complete playlist belongs to an upload that is over: the next one shows nothing of it, but
    /// uses no name again.
    @Test func nextUploadUsesNoNameAgain() throws {
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      for _ in 1...2 {
        let next = (web.newest?.next ?? 0)
        let upload = try upload()
        try web.wait(for: "segment \(next)") { !$0.isEnded && $0.sequence >= next }
        #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
        web.look()
      }
      let ended = web.playlists.filter(\.isEnded)
      #expect(ended.count == 2)
      #expect(Set(ended[0].segments.map(\.name)).isDisjoint(with: ended[1].segments.map(\.name)))
      #expect(ended[1].discontinuities > ended[0].discontinuities)
      try pictures.end(with: SIGTERM)
    }

    /// Another user of the directory chooses no file elsewhere for a segment.
    @Test func linkInPlaceOfNextSegmentIsNotFollowed() throws {
      let elsewhere = bench.file("elsewhere")
      try "kept".write(toFile: elsewhere, atomically: true, encoding: .utf8)
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try upload()
      try web.wait(for: "a segment") { !$0.segments.isEmpty }
      let next = (web.newest?.next ?? 0) + 2
      let name = web.path + String(format: "/segment%05d.m4s", next)
      try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: elsewhere)
      try web.wait(for: "segment \(next)") { $0.next > next }
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      #expect(try String(contentsOfFile: elsewhere, encoding: .utf8) == "kept")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: name) == elsewhere)
      #expect(web.broken.isEmpty, "\(web.broken)")
      try pictures.end(with: SIGTERM)
    }

    /// A playlist that somebody else wrote neither stops an upload nor names its segments.
    @Test(arguments: ["#EXTM3U\n#EXTINF:nan,\nsegment99999999999999999999.ts\n", "\u{0}", "x"])
    func foreignPlaylistIsReplaced(text: String) throws {
      try text.write(toFile: web.path + "/index.m3u8", atomically: true, encoding: .utf8)
      try "kept".write(toFile: web.path + "/segment00007.ts", atomically: true, encoding: .utf8)
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try upload()
      try web.wait(for: "segment 8") { $0.sequence == 8 && $0.broken.isEmpty }
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      #expect(FileManager.default.contents(atPath: web.path + "/segment00007.ts")?.count == 4)
      try pictures.end(with: SIGTERM)
    }
  }
#endif
