#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Sound from the real programs to independent receivers.
  @Suite struct SoundTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    @Test(arguments: [("mkv", "opus"), ("mp4", "aac")])
    func fileHasBothTracksAndTheTone(container: String, codec: String) throws {
      let path = bench.file("out.\(container)")
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let sound = try bench.capture("tone:997")
      let result = try bench.upload("file:\(path)", seconds: 4)
      #expect(result.status == .exited(0), "\(result.errors)")
      let heard = try Heard(path)
      #expect(heard.codecs == ["h264", codec])
      let hertz = try #require(heard.hertz)
      #expect(abs(hertz - 997) < 1)
      let summary = try #require(jsonObject(result.output))
      let figures = try #require(summary["sound"] as? [String: Any])
      #expect((figures["chunks"] as? Int ?? 0) > 100)
      try pictures.end(with: 15)
      try sound.end(with: 15)
    }

    @Test(arguments: ["mkv", "mp4"])
    func flashAndBeepStaySynchronised(container: String) throws {
      let path = bench.file("out.\(container)")
      try bench.sendFlashesAndBeeps(to: "file:\(path)", seconds: 5)
      let skew = try #require(try Heard(path).skew)
      #expect(abs(skew) < 0.04)
    }

    @Test(arguments: ["mkv", "mp4"])
    func soundWithoutPicturesMakesAFile(container: String) throws {
      let path = bench.file("out.\(container)")
      let sound = try bench.capture("tone:440")
      let result = try RunningProgram(
        "framebus",
        [
          "upload", "file:\(path)", "--root", bench.root.path, "--stream", "audio.app",
          "--frames", "300",
        ]
      ).finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let heard = try Heard(path)
      #expect(heard.codecs.count == 1)
      // Chunks are missing if the machine is busy.
      let (tone, other) = (
        heard.level(440, from: 0.5, to: 2.5), heard.level(700, from: 0.5, to: 2.5)
      )
      #expect(tone > 0.05 && tone > 5 * other, "\(tone), \(other)")
      try sound.end(with: 15)
    }

    @Test func missingSoundStreamLeavesPicturesComplete() throws {
      let path = bench.file("out.mkv")
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let result = try bench.upload("file:\(path)", seconds: 2)
      #expect(result.status == .exited(0), "\(result.errors)")
      let heard = try Heard(path)
      #expect(heard.codecs == ["h264", "opus"])
      #expect(!heard.samples.isEmpty && heard.samples.allSatisfy { abs($0) < 0.001 })
      try pictures.end(with: 15)
    }

    private func jsonObject(_ text: String) -> [String: Any]? {
      (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]
    }
  }
#endif
