#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Pictures of every EXIF orientation, which must be upright at the receiver.
  @Suite struct OrientationTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test(arguments: 1...8)
    func pictureIsUprightInFile(orientation: Int) throws {
      let path = bench.file("out.mkv")
      _ = try bench.record(path, "lossless", "MARK\(orientation):96x64:10:33333")
      let pictures = try Pictures(path)
      #expect(pictures.width == 96 && pictures.height == 64)
      #expect(pictures.markedCorners == Array(repeating: [.upperLeft], count: 10))
    }

    @Test func orientationChangesWithItsFrame() throws {
      let path = bench.file("out.mkv")
      let segments = [1, 3, 2, 4, 6, 8, 5, 7, 1].map { "MARK\($0):96x64:7:33333" }
      let uploader = try bench.upload("file:\(path)")
      let publisher = try RunningProgram(
        "UploadTestPublisher", [bench.root.path, "screen", "lossless"] + segments)
      let result = try uploader.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(!result.errors.contains("WARNING") && !result.errors.contains("CRITICAL"))
      try publisher.finish()
      let pictures = try Pictures(path)
      #expect(pictures.width == 96 && pictures.height == 64)
      #expect(pictures.markedCorners == Array(repeating: [.upperLeft], count: 63))
    }

    /// According to videoflip's own log.
    @Test(arguments: [(orientation: 1, turns: false), (orientation: 3, turns: true)])
    func onlyRotatedPicturesAreCopied(orientation: Int, turns: Bool) throws {
      let uploader = try bench.upload(
        "file:\(bench.file("out.mkv"))",
        environment: ["GST_DEBUG": "videoflip:6", "GST_DEBUG_NO_COLOR": "1"])
      let publisher = try bench.publish("lossless", "MARK\(orientation):96x64:10:33333")
      let result = try uploader.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.errors.contains("gst_video_flip_set_info"))
      #expect(result.errors.contains("videoflip: flipping") == turns, "\(result.errors)")
      try publisher.finish()
    }

    @Test(arguments: [3, 6])
    func snapshotIsUpright(orientation: Int) throws {
      let path = bench.file("out.png")
      let publisher = try bench.publish("still", "MARK\(orientation):96x64:1:33333")
      try waitUntil("there is a stream: \(publisher.errors.text)") {
        try bench.snapshot(path).status.isSuccess
      }
      let pictures = try Pictures(path)
      #expect(pictures.width == 96 && pictures.height == 64)
      #expect(pictures.markedCorners == [[.upperLeft]])
      try publisher.end(with: 15)
    }
  }

  /// Frames decoded by ffmpeg, in grey.
  private struct Pictures {
    enum Corner: CaseIterable { case upperLeft, upperRight, lowerLeft, lowerRight }

    let width: Int
    let height: Int
    private let bytes: [UInt8]

    init(_ path: String) throws {
      let sides = try output(
        of: "ffprobe",
        [
          "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of",
          "csv=p=0", path,
        ]
      ).split { $0 == "," || $0 == "\n" }.compactMap { Int($0) }
      guard sides.count >= 2 else { throw HarnessError("no picture in \(path)") }
      (width, height) = (sides[0], sides[1])
      let program = try RunningProgram(
        "ffmpeg",
        [
          "-v", "error", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f",
          "rawvideo", "-",
        ])
      let result = try program.finish()
      guard result.status.isSuccess else { throw HarnessError(result.errors) }
      bytes = program.output.bytes
    }

    /// The white corners of each frame.
    var markedCorners: [[Corner]] {
      (0..<bytes.count / (width * height)).map { frame in
        Corner.allCases.filter { corner in
          let x = corner == .upperLeft || corner == .lowerLeft ? 6 : width - 7
          let y = corner == .upperLeft || corner == .upperRight ? 6 : height - 7
          return bytes[frame * width * height + y * width + x] > 150
        }
      }
    }
  }
#endif
