#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing
  import Upload

  /// Every encoder in software, and the choice among those of a machine. The hardware is that of
  /// Tests/Tools/fake_encoder.c.
  @Suite struct EncoderTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private static let count = 30

    /// What `framebus upload` writes of a few frames, and what it says.
    private func record(
      _ name: String, _ encoder: String, environment: [String: String?] = [:]
    ) throws -> ProgramResult {
      let upload = try bench.upload(
        "file:\(bench.file(name))", "--encoder", encoder, environment: environment)
      let publisher = try bench.publish("lossless", "XR24:320x240:\(Self.count):33333")
      let result = try upload.finish()
      _ = try publisher.finish()
      return result
    }

    private func expectAllFrames(in name: String) throws {
      let recording = try Recording(bench.file(name))
      #expect(recording.levels.count == Self.count && recording.isRising, "\(recording.timesNs)")
      for (number, found) in recording.levels.enumerated() {
        #expect(abs(found - level(number)) <= 6, "frame \(number)")
      }
    }

    /// - Returns: what ffprobe says of the pictures, as NAME=VALUE.
    private func facts(_ name: String) throws -> Set<Substring> {
      Set(
        try output(
          of: "ffprobe",
          [
            "-v", "error", "-select_streams", "v", "-show_entries",
            "stream=codec_name,color_range,color_space", "-of", "default=nw=1",
            bench.file(name),
          ]
        ).split(separator: "\n"))
    }

    @Test(
      arguments: [
        ("x264", "a.mp4", "h264"), ("openh264", "a.mkv", "h264"), ("openh264", "a.mp4", "h264"),
        ("vp8", "a.mkv", "vp8"), ("vp9", "a.mkv", "vp9"),
        ("x265", "a.mkv", "hevc"), ("h265", "a.mp4", "hevc"), ("aom", "a.mkv", "av1"),
        ("av1", "a.mp4", "av1"),
      ])
    func everySoftwareEncoderWritesWhatOthersDecode(
      encoder: String, name: String, codec: String
    ) throws {
      let result = try record(name, encoder)
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(!result.errors.contains("failed") && !result.errors.contains("Error"))
      try expectAllFrames(in: name)
      let facts = try facts(name)
      #expect(facts.contains("codec_name=\(codec)"), "\(facts)")
      // libyuv makes BT.601 in video range of RGB. av1enc does not say which matrix it is.
      #expect(facts.contains("color_range=tv"), "\(facts)")
      let matrix = codec == "av1" ? ["unknown"] : ["smpte170m", "bt470bg"]
      #expect(matrix.contains { facts.contains("color_space=\($0)") }, "\(facts)")
    }

    @Test func transportStreamTakesH265() throws {
      let bench = try SoundBench()
      let port = try bench.freePort()
      let receiver = try bench.receiveSRT(port, "got.ts")
      let capture = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus",
        ["upload", "srt://127.0.0.1:\(port)", "--encoder", "h265", "--root", bench.root.path])
      try bench.waitForBytes(60_000, in: "got.ts")
      #expect(try upload.end(with: SIGTERM).status == .exited(0))
      try capture.end(with: SIGTERM)
      try receiver.end(with: SIGTERM)
      let found = try output(
        of: "ffprobe",
        [
          "-v", "error", "-select_streams", "v", "-count_frames", "-show_entries",
          "stream=codec_name,nb_read_frames", "-of", "csv=p=0", bench.file("got.ts"),
        ])
      #expect(found.contains(/hevc,[1-9][0-9]/), "\(found)")
    }

    /// An environment with encoders that this machine lacks, and a registry of its own.
    private func fakes(_ conducts: String) throws -> [String: String?] {
      let folder = bench.file("plugins")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      func package(_ arguments: String...) throws -> [String] {
        try output(of: "pkg-config", arguments).split { $0.isWhitespace }.map(String.init)
      }
      let installed = try package("--variable=pluginsdir", "gstreamer-1.0")[0]
      _ = try output(
        of: "cc",
        [
          "-shared", "-fPIC", "-DX264_PLUGIN=\"\(installed)/libgstx264.so\"", "-o",
          folder + "/libgstfakeencoder.so", tool("fake_encoder.c"),
        ] + package("--cflags", "--libs", "gstreamer-video-1.0"))
      return [
        "FAKE_ENCODERS": conducts, "GST_PLUGIN_PATH": folder,
        "GST_REGISTRY": bench.file("registry.bin"),
      ]
    }

    @Test func hardwareIsPreferredToSoftware() throws {
      let result = try record("a.mkv", "auto", environment: fakes("vah264enc=works"))
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.errors.contains("vah264enc encodes") && !result.errors.contains("failed"))
      try expectAllFrames(in: "a.mkv")
    }

    /// One refuses to start, the next fails while it runs: neither costs a frame of the recording.
    @Test(arguments: ["a.mkv", "a.mp4"])
    func encoderThatFailsIsReplacedWithinTheRecording(name: String) throws {
      let result = try record(
        name, "auto", environment: fakes("vah264enc=refuses,nvh264enc=fails:10"))
      #expect(result.status == .exited(0), "\(result.errors)")
      let said = result.errors.split(separator: "\n").filter { $0.contains(" failed: ") }
      #expect(said.count == 2, "\(result.errors)")
      #expect(said.first?.contains("encoder va failed: the driver refuses; nvenc encodes") == true)
      #expect(said.last?.contains("nvenc failed: the device is gone; x264 encodes") == true)
      try expectAllFrames(in: name)
    }

    private func recordLive(
      _ encoder: String, _ conducts: String
    ) throws -> ProgramResult {
      let upload = try bench.upload(
        "file:\(bench.file("a.mkv"))", "--encoder", encoder, environment: fakes(conducts))
      let publisher = try bench.publish("live", "XR24:320x240:240:33333")
      let result = try upload.finish()
      publisher.process.send(signal: SIGTERM)
      _ = try publisher.finish()
      return result
    }

    /// It posts no error. What it took is lost, and what follows is recorded.
    @Test(arguments: [0, 10])
    func encoderThatReturnsNothingIsReplaced(after count: Int) throws {
      let result = try recordLive("auto", "vah264enc=silent:\(count)")
      #expect(result.status == .exited(0), "\(result.errors)")
      let reason = "encoder va failed: it takes pictures and returns nothing; x264 encodes"
      #expect(result.errors.components(separatedBy: reason).count == 2, "\(result.errors)")
      let recording = try Recording(bench.file("a.mkv"))
      #expect((60...210).contains(recording.levels.count) && recording.isRising)
    }

    @Test func lastEncoderThatReturnsNothingIsAnError() throws {
      let result = try recordLive("va", "vah264enc=silent:0")
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("vah264enc failed: it takes pictures"), "\(result.errors)")
    }

    @Test func encoderThatTheUserNamesIsNotReplaced() throws {
      let result = try record("a.mkv", "va", environment: fakes("vah264enc=refuses"))
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("the driver refuses"), "\(result.errors)")
    }

    @Test(
      arguments: [
        (["file:a.mkv", "--encoder", "theora"], 2, "no encoder “theora”; it has auto, h264"),
        (["file:a.mkv", "--encoder", "vp8:fast"], 2, "vp8 has no preset “fast”"),
        (["file:a.mp4", "--encoder", "vp8"], 2, "choose one of h264, h265, av1"),
        (["rtmp://127.0.0.1/a/b", "--encoder", "x265"], 2, "choose one of h264"),
        (["file:a.mkv", "--encoder", "nvenc"], 1, "no element nvh264enc"),
      ])
    func unusableEncoderIsAnError(arguments: [String], status: Int32, text: String) throws {
      let result = try run(
        "framebus", ["upload"] + arguments + ["--root", bench.root.path])
      #expect(result.status == .exited(status) && result.errors.contains(text), "\(result.errors)")
    }
  }
#endif
