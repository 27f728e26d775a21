import FoundationEssentials

/// What `framebus upload --json` says last.
struct UploadSummary: Decodable {
  let frames: Int
  let fps: Double
  let drops: Int
  let latency_p50_ns: UInt64
  let latency_p99_ns: UInt64
}

/// What `framebus capture --json` says last.
struct CaptureSummary: Decodable {
  let copies_per_frame: Double
}

/// The closing summary of a demo; as JSON, the object that design and scripts rely on.
struct DemoFigures: Encodable {
  let frames: Int
  let fps: Double
  let drops: Int
  let latency_p50_ns: UInt64
  let latency_p99_ns: UInt64
  let copies_per_frame: Double
  let output: String
  let picture: String?

  init(
    upload: UploadSummary, capture: CaptureSummary, output: String, picture: String?
  ) {
    frames = upload.frames
    fps = upload.fps
    drops = upload.drops
    latency_p50_ns = upload.latency_p50_ns
    latency_p99_ns = upload.latency_p99_ns
    copies_per_frame = capture.copies_per_frame
    self.output = output
    self.picture = picture
  }

  /// One fact a line.
  var lines: [String] {
    [
      "frames          \(frames), \(fps.rounded(toPlaces: 1)) a second",
      "dropped         \(drops)",
      "latency         \(Self.milliseconds(latency_p50_ns)) ms in the middle, "
        + "\(Self.milliseconds(latency_p99_ns)) ms at the 99th of 100 (capture to upload)",
      "copies a frame  \(copies_per_frame.rounded(toPlaces: 2)) before the encoder",
      "recording       \(output)",
    ] + (picture.map { ["picture         \($0)"] } ?? [])
  }

  private static func milliseconds(_ nanoseconds: UInt64) -> Double {
    (Double(nanoseconds) / 1e6).rounded(toPlaces: 2)
  }
}

extension Double {
  fileprivate func rounded(toPlaces places: Int) -> Double {
    let scale = places == 1 ? 10.0 : 100.0
    return (self * scale).rounded() / scale
  }
}
