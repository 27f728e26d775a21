#if Media
  import AppGroup
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Real frames through the real uploader into real files, read back by ffprobe and ffmpeg.
  @Suite struct FileTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test(arguments: ["mkv", "mp4"])
    func losslessStreamIsRecordedCompletelyWithTimestamps(container: String) throws {
      let path = bench.file("out.\(container)")
      let stamps = try bench.record(
        path, "lossless", "XR24:320x240:60:33333", "XR24:320x240:40:16667")
      let recording = try Recording(path)
      #expect(recording.timesNs.count == 100 && recording.levels.count == 100)
      #expect(recording.isRising && recording.timesNs.first == 0)
      // The time unit of Matroska is a millisecond, of our MP4 1/90000 s. Times are rounded to it,
      // and ffprobe prints microseconds.
      let unitNs: Int64 = container == "mkv" ? 1_000_000 : 11_112
      for (time, stamp) in zip(recording.timesNs, stamps) {
        #expect(abs(time - (stamp - stamps[0])) <= unitNs / 2 + 1000)
      }
      for (number, found) in recording.levels.enumerated() {
        #expect(abs(found - level(number)) <= 4, "frame \(number)")
      }
    }

    @Test(arguments: ["XR24", "XB24", "AR24", "RG24", "YU12", "NV12", "YUYV", "R8  "])
    func everyPixelFormatIsPreserved(fourcc: String) throws {
      let path = bench.file("out.mkv")
      _ = try bench.record(path, "lossless", "\(fourcc):64x48:24:33333")
      let recording = try Recording(path)
      #expect(recording.levels.count == 24)
      // The publisher writes the same byte in every format. In YUV it is luma, 16…235, and
      // GStreamer treats a single channel as luma too.
      let isLuma = ["YU12", "NV12", "R8  "].contains(fourcc)
      if fourcc == "YUYV" { return }
      for (number, found) in recording.levels.enumerated() {
        let wanted = isLuma ? (level(number) - 16) * 255 / 219 : level(number)
        #expect(abs(found - wanted) <= 6, "frame \(number)")
      }
    }

    @Test(arguments: ["XR24:321x241", "YU12:323x245", "NV12:67x49", "XR24:17x16"])
    func oddSizesLoseTheirLastColumnAndRow(shape: String) throws {
      let path = bench.file("out.mkv")
      _ = try bench.record(path, "lossless", "\(shape):10:33333")
      let sides = shape.dropFirst(5).split(separator: "x").compactMap { Int($0) }
      let recording = try Recording(path)
      #expect(recording.width == sides[0] & ~1 && recording.height == sides[1] & ~1)
      #expect(recording.levels.count == 10)
    }

    @Test(arguments: ["mkv", "mp4"])
    func laterResolutionIsScaledToTheFirst(container: String) throws {
      let path = bench.file("out.\(container)")
      _ = try bench.record(
        path, "lossless", "XR24:320x240:20:33333", "XR24:641x481:20:33333",
        "NV12:160x120:20:33333", "XR24:320x240:20:33333")
      let recording = try Recording(path)
      #expect(recording.width == 320 && recording.height == 240)
      #expect(recording.levels.count == 80 && recording.isRising)
    }

    @Test func restartedPublisherContinuesInSameFile() throws {
      let path = bench.file("out.mkv")
      let uploader = try bench.upload("file:\(path)", "--frames", "60")
      let first = try bench.publish("still", "XR24:320x240:30:20000")
      try first.waitForOutput("\n")
      #expect(
        first.output.wait(until: .after(.seconds(60))) { $0.split(separator: "\n").count >= 30 })
      try first.end(with: SIGKILL)
      try uploader.waitForErrors("the publisher is gone")
      // More than the missing ones, because a busy machine drops frames.
      let second = try bench.publish("live", "XR24:640x360:2000:20000")
      let result = try uploader.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let recording = try Recording(path)
      #expect(recording.levels.count >= 60 && recording.isRising)
      try second.end(with: SIGTERM)
    }

    @Test(arguments: ["mkv", "mp4"])
    func killedUploaderLeavesPlayableFile(container: String) throws {
      let path = bench.file("out.\(container)")
      let uploader = try bench.upload("file:\(path)")
      let publisher = try bench.publish("live", "XR24:320x240:2000:20000")
      #expect(
        publisher.output.wait(until: .after(.seconds(60))) {
          $0.split(separator: "\n").count >= 150
        })
      try uploader.end(with: SIGKILL)
      // 150 frames last 3 s. The last fragment of half a second may be missing, and a busy machine
      // may have dropped frames.
      let recording = try Recording(path)
      #expect(recording.levels.count >= 20 && recording.isRising)
      try publisher.end(with: SIGTERM)
    }

    @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(0))])
    func signalFinishesFile(signal: Int32, status: Int32) throws {
      let path = bench.file("out.mp4")
      let uploader = try bench.upload("file:\(path)")
      let publisher = try bench.publish("live", "XR24:320x240:2000:20000")
      #expect(
        publisher.output.wait(until: .after(.seconds(60))) { $0.split(separator: "\n").count >= 50 }
      )
      let result = try uploader.end(with: signal)
      #expect(result.status == .exited(status), "\(result.errors)")
      let summary = try Summary(result.output)
      let recording = try Recording(path)
      #expect(recording.levels.count == summary.frames + summary.repeated)
      #expect(summary.output == path && summary.end == "stopped")
      try publisher.end(with: SIGTERM)
    }

    @Test func stillPictureIsRepeatedEverySecond() throws {
      let path = bench.file("out.mkv")
      let uploader = try bench.upload("file:\(path)", "--duration", "2.5")
      let publisher = try bench.publish("still", "XR24:320x240:3:20000")
      let result = try uploader.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let recording = try Recording(path)
      #expect(try Summary(result.output).repeated >= 2)
      #expect(recording.isRising)
      for (earlier, later) in zip(recording.timesNs, recording.timesNs.dropFirst()) {
        // The guarantee is one a second; half a second more allows for a stalled machine.
        #expect(later - earlier <= 1_500_000_000)
      }
      try publisher.end(with: SIGTERM)
    }

    @Test func secondUploadIntoSameFileIsRefused() throws {
      let path = bench.file("out.mkv")
      let first = try bench.upload("file:\(path)")
      let publisher = try bench.publish("live", "XR24:320x240:2000:20000")
      try waitUntil("the file grows: \(first.transcript)") {
        (OutputFile(path).byteCount ?? 0) > 1000
      }
      let second = try bench.upload("file:\(path)").finish()
      #expect(second.status == .exited(1))
      #expect(second.errors.contains("another program writes it"), "\(second.errors)")
      let result = try first.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      let summary = try Summary(result.output)
      #expect(try Recording(path).levels.count == summary.frames + summary.repeated)
      try publisher.end(with: SIGTERM)
    }

    @Test func missingStreamLeavesNoFile() throws {
      let path = bench.file("out.mkv")
      let uploader = try bench.upload("file:\(path)")
      try uploader.waitForErrors("waiting for stream")
      #expect(try uploader.end(with: SIGINT).status == .exited(130))
      #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func snapshotIsTheWholeNewestFrame() throws {
      let publisher = try bench.publish("still", "XR24:321x241:7:1000")
      let waiting = try bench.upload("null", "--frames", "1")
      try waiting.finish()
      #expect(
        publisher.output.wait(until: .after(.seconds(60))) { $0.split(separator: "\n").count >= 7 })
      let path = bench.file("shot.png")
      let result = try run("framebus", ["snapshot", "screen", path, "--root", bench.root.path])
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.output == "")
      // The publisher publishes no more.
      #expect(result.errors.contains("the newest picture of “screen” is "), "\(result.errors)")
      #expect(result.errors.contains("\n\(path): 1 frame, 0 drops, latency "), "\(result.errors)")
      let picture = try Recording(path)
      #expect(picture.width == 321 && picture.height == 241)
      #expect(picture.levels.count == 1)
      // ffmpeg converts by way of YUV.
      #expect(abs((picture.levels.first ?? 0) - level(6)) <= 4)
      try publisher.end(with: SIGTERM)
    }
  }

  /// The JSON object that the uploader writes at its end.
  struct Summary: Decodable {
    let frames: Int
    let repeated: Int
    let drops: Int
    let output: String
    let end: String

    init(_ text: String) throws {
      self = try JSONDecoder().decode(Summary.self, from: Data(text.utf8))
    }
  }
#endif
