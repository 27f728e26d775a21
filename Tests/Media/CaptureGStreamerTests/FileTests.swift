import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// One video frame of a file: its time, and its brightness, row by row.
private struct FileFrame: Equatable {
  let ptsNs: Int64
  let luma: [UInt8]
}

/// An ffmpeg filter.
private let oddSize = "crop=321:243:0:0:exact=1"

@Suite struct FileTests {
  private let root: TemporaryRoot
  private let group: AppGroup

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("org.example.test"), root: root.path)
  }

  private func makeFile(_ name: String, _ arguments: [String]) throws -> String {
    let source = ["-f", "lavfi", "-i", "testsrc2=size=322x244:rate=30000/1001:duration=2"]
    try output(
      of: "ffmpeg", ["-loglevel", "error", "-y"] + source + arguments + [root.file(name)])
    return root.file(name)
  }

  private func capture(_ source: String, _ arguments: String...) throws -> RunningProgram {
    try RunningProgram(
      "framebus",
      ["capture", source, "--root", root.path, "--group", "org.example.test"] + arguments)
  }

  /// Receives every frame until the publisher has ended.
  private func receiveAll() throws -> [FileFrame] {
    var options = SubscriberOptions()
    options.policy = .lossless(deadline: .seconds(30))
    options.start = .oldest
    var subscriber = try Subscriber(
      StreamName("screen"), in: group, options: options,
      waitingForPublisherUntil: .after(.seconds(60)))
    var frames: [FileFrame] = []
    while true {
      switch try subscriber.next(until: .after(.seconds(60))) {
      case .frame(let lease):
        let format = lease.format
        var luma: [UInt8] = []
        // SAFETY: the rows are copied while the lease lives.
        unsafe lease.withUnsafeBytes {
          for y in 0..<format.height {
            let start = format.planes[0].offset + y * format.planes[0].stride
            unsafe luma += $0[start..<start + format.width]
          }
        }
        frames.append(FileFrame(ptsNs: lease.metadata.ptsNs, luma: luma))
      case .finished(let reason):
        #expect(reason == .ended)
        #expect(subscriber.droppedCount == 0)
        return frames
      default: throw HarnessError("the stream stood still after \(frames.count) frames")
      }
    }
  }

  /// The same frames according to ffmpeg and ffprobe.
  private func expected(
    _ path: String, width: Int, height: Int, pixels: String = "yuv420p"
  ) throws -> [FileFrame] {
    let raw = root.file("expected.raw")
    try output(
      of: "ffmpeg",
      [
        "-loglevel", "error", "-y", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f",
        "rawvideo", "-pix_fmt", pixels, raw,
      ])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    let times = try output(
      of: "ffprobe",
      [
        "-loglevel", "error", "-select_streams", "v", "-show_entries", "frame=pts_time", "-of",
        "csv=p=0", path,
      ]
    ).split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }
    let frameBytes = width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
    #expect(bytes.count == frameBytes * times.count)
    return times.enumerated().map { index, seconds in
      let start = index * frameBytes
      return FileFrame(
        ptsNs: Int64((seconds * 1e9).rounded()), luma: Array(bytes[start..<start + width * height]))
    }
  }

  @Test(arguments: [
    [
      "h264.mp4", "-c:v", "libx264", "-bf", "3", "-g", "12", "-pix_fmt", "yuv420p", "-vf",
      "null",
    ],
    ["h264.mkv", "-c:v", "libx264", "-bf", "2", "-pix_fmt", "yuv420p", "-vf", "null"],
    ["lossless.mkv", "-vf", oddSize, "-c:v", "ffv1", "-pix_fmt", "yuv420p"],
    ["jpeg.mkv", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-vf", oddSize],
  ])
  func everyFrameOfAFileArrivesWithItsPixelsAndTime(file: [String]) throws {
    try withWatchdog {
      let path = try makeFile(file[0], Array(file.dropFirst()))
      let program = try capture("file:" + path, "--json")
      let frames = try receiveAll()
      let result = try program.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let isPadded = file[0].hasPrefix("h264")
      let expected = try expected(
        path, width: isPadded ? 322 : 321, height: isPadded ? 244 : 243,
        // The decoder keeps the full range of a JPEG.
        pixels: file[0] == "jpeg.mkv" ? "yuvj420p" : "yuv420p")
      #expect(frames.count == expected.count && frames.count == 60)
      let wrong = zip(frames, expected).enumerated().filter { _, pair in
        // ffprobe rounds to microseconds, and two JPEG decoders differ a little.
        let allowed = file[0] == "jpeg.mkv" ? 4 : 0
        return abs(pair.0.ptsNs - pair.1.ptsNs) > 1000
          || largestDifference(between: pair.0.luma, and: pair.1.luma) > allowed
      }
      #expect(wrong.map(\.offset) == [])
    }
  }

  @Test func framesHeldByThePipelineAreCopiedAndNeverPublishedTwice() throws {
    try withWatchdog {
      let path = try makeFile("jpeg.mkv", ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"])
      // At three times the rate, each picture is repeated: the same memory arrives three times.
      let program = try capture("file:" + path, "--fps", "90", "--json")
      let frames = try receiveAll()
      _ = try program.finish()
      #expect(frames.count >= 175)
      var distinct = 0
      for (frame, next) in zip(frames, frames.dropFirst()) {
        #expect(next.ptsNs > frame.ptsNs)
        if next.luma != frame.luma { distinct += 1 }
      }
      #expect(distinct == 59)
    }
  }

  @Test func uncompressedVideoFromStandardInputLosesNothing() throws {
    try withWatchdog {
      let path = try makeFile(
        "lossless.mkv", ["-vf", oddSize, "-c:v", "ffv1", "-pix_fmt", "yuv420p"])
      let y4m = try makeFile("all.y4m", ["-vf", oddSize, "-pix_fmt", "yuv420p"])
      let pipe = try RunningProgram(
        "sh",
        [
          "-c",
          "cat '\(y4m)' | \"$0\" capture y4m:- --root '\(root.path)' --group org.example.test",
          try #require(siblingProgram(named: "framebus")),
        ])
      let frames = try receiveAll()
      #expect(try pipe.finish().status == .exited(0))
      let expected = try expected(path, width: 321, height: 243)
      #expect(frames.map(\.luma) == expected.map(\.luma))
    }
  }

  @Test func unusableVideoIsReportedInOneLine() throws {
    try Data("hello".utf8).write(to: URL(fileURLWithPath: root.file("note.txt")))
    try Data().write(to: URL(fileURLWithPath: root.file("empty.mkv")))
    try output(
      of: "ffmpeg",
      ["-loglevel", "error", "-f", "lavfi", "-i", "sine=duration=1", root.file("sound.wav")])
    for (source, message) in [
      ("file:" + root.file("none.mp4"), "No such file"),
      ("file:" + root.path, "is a directory"),
      ("file:" + root.file("note.txt"), "is not a video"),
      ("file:" + root.file("empty.mkv"), "is not a video"),
      ("file:" + root.file("sound.wav"), "no video track"),
      ("gst:nosuchelement", "no element “nosuchelement”"),
      ("gst:fakesrc ! ! x", "does not understand the pipeline"),
      ("y4m:" + root.file("note.txt"), "not a YUV4MPEG2 stream"),
      ("y4m:" + root.file("none.y4m"), "No such file"),
    ] {
      let result = try capture(source).finish()
      #expect(result.status == .exited(1), "\(source)")
      #expect(result.errors.contains(message), "\(source): \(result.errors)")
      // A slow machine also sees a line of progress.
      let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
      #expect(lines.count == 1, "\(source): \(result.errors)")
    }
    // None of them is listed as a stream, and none is waited for.
    #expect(try listStreams(in: group).isEmpty)
  }

  @Test(arguments: ["mp4", "mkv"])
  func truncatedFileIsAnErrorAfterItsLastFrame(container: String) throws {
    try withWatchdog {
      let path = try makeFile("whole." + container, ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"])
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      let cut = root.file("cut." + container)
      try bytes.prefix(bytes.count / 3).write(to: URL(fileURLWithPath: cut))
      let program = try capture("file:" + cut)
      let uploads = container == "mkv" ? try capturedFrames(until: program) : 0
      let result = try program.finish()
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("cut off"), "\(result.errors)")
      if container == "mkv" { #expect(uploads > 0) }
    }
  }

  /// Counts frames until the stream ends in any way.
  private func capturedFrames(until program: RunningProgram) throws -> Int {
    var subscriber = try Subscriber(
      StreamName("screen"), in: group, waitingForPublisherUntil: .after(.seconds(60)))
    while true {
      guard case .frame = try subscriber.next(until: .after(.seconds(60))) else {
        return Int(subscriber.receivedCount)
      }
    }
  }
}
