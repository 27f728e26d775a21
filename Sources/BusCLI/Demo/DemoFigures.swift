import AppGroup
import FoundationEssentials

/// The final summary of a demo. Its JSON form is a contract.
struct DemoFigures: Encodable {
  let frames: Int
  let fps: Double
  let drops: Int
  let latency_p50_ns: UInt64
  let latency_p99_ns: UInt64
  let copies_per_frame: Double
  let output: String
  let picture: String?

  /// Reads the figures that the roles logged when they ended.
  init(_ log: DemoLog, output: String, picture: String?) throws {
    func uploaded(_ key: String) throws -> Double {
      try log.figure(key, of: .extension, in: "upload ended")
    }
    func captured(_ key: String) throws -> Double {
      try log.figure(key, of: .capture, in: "capture ended")
    }
    frames = try Int(uploaded("frames"))
    fps = try uploaded("framesPerSecond")
    drops = try Int(uploaded("drops"))
    latency_p50_ns = try UInt64(uploaded("latencyP50Ns"))
    latency_p99_ns = try UInt64(uploaded("latencyP99Ns"))
    copies_per_frame = try captured("copied") / max(1, captured("frames"))
    self.output = output
    self.picture = picture
  }

  /// One figure per line.
  var lines: [String] {
    [
      "frames          \(frames), \(fps.rounded(toPlaces: 1)) per second",
      "dropped         \(drops)",
      "latency         \(Self.milliseconds(latency_p50_ns)) ms median, "
        + "\(Self.milliseconds(latency_p99_ns)) ms 99th percentile (capture to upload)",
      "copies/frame    \(copies_per_frame.rounded(toPlaces: 2)) before the encoder",
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
