#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// A publisher chooses the size of its pictures, which sets the uploader's memory: a size that is
  /// too large is refused before memory is allocated.
  @Suite struct SizeTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    /// Appends the peak memory of a program and its children, in KiB, to its output.
    private static let measuring =
      "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
      + "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); "
      + "sys.exit(status)"

    @Test func picturesAboveH264LimitsAreRefused() throws {
      let publisher = try bench.publish("live", "HOLE:8192x4368:3000:20000")
      for destination in [
        "file:\(bench.file("out.mkv"))", "hls:\(bench.root.path)", "png:\(bench.file("out.png"))",
        "srt://127.0.0.1:9", "rtmp://127.0.0.1:9/live/x", "whip:http://127.0.0.1:9/x",
      ] {
        let result = try run(
          "/usr/bin/python3",
          [
            "-c", Self.measuring, try pathOfProgram("framebus"), "upload", destination, "--root",
            bench.root.path, "--json",
          ])
        #expect(result.status == .exited(1), "\(destination)")
        #expect(
          result.errors.contains("error: frames of 8192×4368 pixels cannot be encoded; publish"),
          "\(destination): \(result.errors)")
        let peak = try #require(result.errors.firstMatch(of: /peak (\d+)/).flatMap { Int($0.1) })
        #expect(peak < 150 << 10, "\(destination)")
      }
      for name in ["out.mkv", "out.png"] {
        #expect(!FileManager.default.fileExists(atPath: bench.file(name)))
      }
      try publisher.end(with: SIGTERM)
    }

    @Test(arguments: ["mkv", "mp4"])
    func fileIsFinishedWhenPicturesBecomeTooLarge(container: String) throws {
      let path = bench.file("out.\(container)")
      let uploader = try bench.upload("file:\(path)")
      let publisher = try bench.publish("live", "XR24:320x240:100:20000", "HOLE:8192x4368:20:20000")
      let result = try uploader.finish()
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("frames of 8192×4368 pixels"), "\(result.errors)")
      let recording = try Recording(path)
      #expect(recording.width == 320 && recording.isRising && recording.levels.count > 10)
      let duration = try output(
        of: "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path])
      #expect((Double(duration.filter { !$0.isWhitespace }) ?? 0) > 0.2, "\(duration)")
      try publisher.end(with: SIGTERM)
    }

    /// Rates that GStreamer cannot express, or x264 cannot plan with.
    @Test func anyFrameRateIsRecorded() throws {
      let path = bench.file("out.mkv")
      let uploader = try bench.upload("file:\(path)")
      let publisher = try bench.publish("live", "FAST:320x240:100:20000")
      let result = try uploader.finish()
      #expect(
        result.status == .exited(0) && !result.errors.contains("CRITICAL"), "\(result.errors)")
      #expect(try Recording(path).levels.count > 10)
      try publisher.finish()
    }

    @Test func snapshotAcceptsAllSizesThatGStreamerConverts() throws {
      for (format, size) in [("XR24:32767x1", "32767,1"), ("XR24:1x32767", "1,32767")] {
        let publisher = try bench.publish("live", "\(format):3000:20000")
        let path = bench.file("now.png")
        let result = try bench.snapshot(path)
        #expect(result.status == .exited(0), "\(format): \(result.errors)")
        let found = try output(
          of: "ffprobe",
          ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path])
        #expect(found == size + "\n")
        try publisher.end(with: SIGTERM)
      }
      for (format, reason) in [
        ("XR24:65535x1", "frames of 65535×1 pixels cannot be encoded; publish sides of 1 to 32767"),
        // The picture has one row, so the stride needs no more bytes.
        ("WIDE:64x1", "frames whose rows are 4294967295 bytes apart cannot be encoded"),
      ] {
        let publisher = try bench.publish("live", "\(format):3000:20000")
        let result = try bench.snapshot(bench.file("none.png"))
        #expect(result.status == .exited(1) && result.errors.contains(reason), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: bench.file("none.png")))
        try publisher.end(with: SIGTERM)
      }
    }
  }
#endif
