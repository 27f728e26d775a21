import CommandLineSupport
import Platform

/// Pictures between pipelines of GStreamer's: framebussink and framebussrc, the same frames without
/// GStreamer, and shmsink and shmsrc. The programs are those of `scripts/peers`.
struct GStreamerSuite: BenchSuite {
  let name = "gstreamer"

  func run(_ run: BenchRun) throws -> BenchReport {
    let subjects = try RingSubjects(
      run, own: [try .plugin(), try .peer(.framebusInC)], peers: [{ try .sharedMemory() }])
    defer { subjects.stopDaemons() }
    let duration: Duration = .seconds(run.seconds ?? 1)
    let rows = try run.rows(of: RingScenario.pictures, subjects.all) { scenario, subject in
      try RingTurn(subject: subject, scenario: scenario, duration: duration, stop: run.stop)
        .measure()
    }
    let heading = "\(name): \(run.rounds) rounds of \(duration), median (min–max)"
    return RingReport(
      suite: name, heading: heading, rows: rows, baselines: ["framebus-c", "gstreamer-shm"],
      comparesProcessorTime: true
    ).report
  }
}

extension RingScenario {
  /// 64×64 pixels of 4 bytes; large ones have 1920×1080.
  private static let smallPictureBytes = 64 * 64 * 4

  fileprivate static let pictures: [RingScenario] = [
    latency("latency 64×64 at 1 kHz", smallPictureBytes, 1000, depth: 8),
    latency("latency 1920×1080 at 60 Hz", largeBytes, 60),
    latency("latency 1920×1080 at 60 Hz, filled and summed", largeBytes, 60, .fills),
    rate("rate 64×64, every frame", smallPictureBytes, depth: 8),
    rate("rate 1920×1080, every frame", largeBytes),
    rate("rate 1920×1080, every frame, filled and summed", largeBytes, .fills),
  ]

  private static func latency(
    _ name: String, _ bytes: Int, _ framesPerSecond: Int, _ traits: Traits = [], depth: Int = 2
  ) -> RingScenario {
    RingScenario(
      name: name, measure: .latency, bytes: bytes, framesPerSecond: framesPerSecond, depth: depth,
      traits: traits)
  }

  private static func rate(
    _ name: String, _ bytes: Int, _ traits: Traits = [], depth: Int = 2
  ) -> RingScenario {
    RingScenario(
      name: name, measure: .rate, bytes: bytes, depth: depth, traits: traits.union(.lossless))
  }
}

extension RingSubject {
  fileprivate static func plugin() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "framebus", path: try program("PipelineFramebus", for: "framebus"))
  }

  fileprivate static func sharedMemory() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "gstreamer-shm", path: try program("PipelineShm", for: "gstreamer-shm"))
  }
}
