#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// A file with sound, captured and uploaded again.
  @Suite struct FileSoundTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// Makes a file with flashes and beeps at each full second, or with a tone.
    private func makeFile(_ name: String, seconds: Int, sound: String) throws -> String {
      let path = bench.file(name)
      try output(
        of: "ffmpeg",
        [
          "-v", "error", "-y", "-f", "lavfi", "-i",
          "color=black:s=320x240:r=30,drawbox=c=white:t=fill:enable='lt(mod(t,1),0.1)'", "-f",
          "lavfi", "-i", sound, "-t", "\(seconds)", "-c:v", "libx264", "-preset", "ultrafast",
          "-pix_fmt", "yuv420p", path,
        ])
      return path
    }

    private let beeps = "aevalsrc='if(lt(mod(t,1),0.1),0.5*sin(2*PI*1000*t),0)':s=44100"
    private let tone = "sine=frequency=997:sample_rate=44100"

    /// Captures a file and uploads its pictures and sound.
    private func send(_ path: String, to destination: String) throws {
      let capture = try bench.capture("file:\(path)")
      let result = try RunningProgram(
        "framebus",
        [
          "upload", destination, "--root", bench.root.path, "--stream", "screen", "--stream",
          "audio.app",
        ]
      ).finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let captured = try capture.finish()
      #expect(captured.status == .exited(0), "\(captured.errors)")
    }

    @Test(arguments: ["tone.mp4", "tone.mkv"])
    func fileToneArrivesComplete(name: String) throws {
      try withWatchdog {
        let path = bench.file("out.mkv")
        try send(makeFile(name, seconds: 4, sound: tone), to: "file:\(path)")
        let heard = try Heard(path)
        #expect(heard.codecs == ["h264", "opus"])
        let log = try bench.framebus("log", "--role", "capture").output
        #expect(log.components(separatedBy: "sound format sampleRate=44100").count == 2, "\(log)")
        #expect(abs(try #require(heard.hertz) - 997) < 1)
        for second in 0..<4 {
          let from = Double(second)
          #expect(heard.level(997, from: from + 0.05, to: from + 0.95) > 0.05, "second \(second)")
        }
      }
    }

    @Test(arguments: ["beep.mp4", "beep.mkv"])
    func flashAndBeepOfFileStaySynchronised(name: String) throws {
      try withWatchdog {
        let path = bench.file("out.mkv")
        try send(makeFile(name, seconds: 5, sound: beeps), to: "file:\(path)")
        let heard = try Heard(path)
        #expect(heard.flashes.count >= 4 && heard.beeps.count >= 4)
        #expect(abs(try #require(heard.skew)) < 0.04)
      }
    }

    @Test func soundStreamOfAnotherPublisherIsLeftOut() throws {
      try withWatchdog {
        let path = try makeFile("tone.mkv", seconds: 2, sound: tone)
        let other = try bench.capture("tone:440")
        try waitUntil("its stream is there: \(other.transcript)") {
          try run("framebus", ["streams", "--root", bench.root.path]).output.contains("audio.app")
        }
        let capture = try bench.capture("file:\(path)")
        let result = try run("framebus", ["upload", "null", "--root", bench.root.path])
        #expect(result.status == .exited(0) && result.errors.contains("60 frames"))
        let captured = try capture.finish()
        #expect(captured.status == .exited(0))
        #expect(captured.errors.contains("the file's sound is left out"))
        try other.end(with: 15)
      }
    }

    @Test func durationOfSoundAloneIsCounted() throws {
      let sound = try bench.capture("tone")
      let path = bench.file("out.mkv")
      let result = try RunningProgram(
        "framebus",
        [
          "upload", "file:\(path)", "--root", bench.root.path, "--stream", "audio.app",
          "--duration", "0.5",
        ]
      ).finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(try Heard(path).codecs == ["opus"])
      try sound.end(with: SIGTERM)
    }

    @Test func fileWithoutVideoIsRefused() throws {
      try withWatchdog {
        let path = bench.file("tone.ogg")
        try output(of: "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", tone, "-t", "30", path])
        let result = try bench.capture("file:\(path)").finish()
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("has no video track"), "\(result.errors)")
      }
    }

    @Test func earlyEndOfCaptureEndsItsSound() throws {
      try withWatchdog {
        let path = try makeFile("tone.mkv", seconds: 20, sound: tone)
        let capture = try bench.capture("file:\(path)", "--frames", "15")
        let result = try run("framebus", ["upload", "null", "--root", bench.root.path])
        #expect(result.status == .exited(0))
        #expect(try capture.finish().status == .exited(0))
      }
    }
  }
#endif
