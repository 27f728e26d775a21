import AppGroup
import CommandLineSupport
import Platform

/// Streams from one group to another by SRT, with pictures that contain the time at which they were
/// drawn, beside the same elements of GStreamer in one process on each side.
struct LinkedStreams {
  let suite: String

  private static let defaultSeconds = 8
  private static let counts = [1, 4, 16]

  func run(_ run: BenchRun) throws -> BenchReport {
    defer { run.terminal.endProgress() }
    let seconds = run.wholeSeconds(or: Self.defaultSeconds)
    var records: [BenchRecord] = []
    var table = TextTable([
      "streams", "subject", "latency ms", "p99", "ratio to limit", "CPU ms a frame",
      "ratio to limit", "fps a stream",
    ])
    for count in Self.counts {
      var findings: [LinkSubject: [LinkFinding]] = [:]
      for round in 0..<run.rounds {
        // Alternating direction, so that no subject always follows the same one.
        let order = LinkSubject.allCases
        for subject in round % 2 == 0 ? order : order.reversed() {
          run.terminal.progress(
            "\(counted(count, "stream")), round \(round + 1) of \(run.rounds): \(subject.rawValue)")
          let turn = LinkTurn(subject: subject, count: count, run: run, seconds: seconds)
          findings[subject, default: []].append(try turn.measure())
        }
      }
      for subject in LinkSubject.allCases {
        guard let found = findings[subject], let limits = findings[.limit] else { continue }
        records.append(record(subject, count, found))
        table.add(row(subject, count, found, comparedWith: limits))
      }
    }
    let heading =
      "\(suite): \(LinkScene.text) by SRT on loopback, \(run.rounds) rounds of \(seconds) s each, "
      + "median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }

  private func record(
    _ subject: LinkSubject, _ count: Int, _ found: [LinkFinding]
  ) -> BenchRecord {
    var record = BenchRecord(
      suite: suite, scenario: counted(count, "stream"), subject: subject.rawValue,
      samples: found.reduce(0) { $0 + $1.frames })
    record.p50_ns = UInt64(Spread(found.map { $0.latencyNs(0.5) }).median)
    record.p99_ns = UInt64(Spread(found.map { $0.latencyNs(0.99) }).median)
    record.per_second = Spread(found.map(\.framesPerSecond)).median
    record.cpu_ns_per_frame = UInt64(Spread(found.map(\.processorNsPerFrame)).median)
    record.set(rounds: found.map(\.processorNsPerFrame), unit: "ns")
    return record
  }

  private func row(
    _ subject: LinkSubject, _ count: Int, _ found: [LinkFinding],
    comparedWith limits: [LinkFinding]
  ) -> [String] {
    // Within a round, so that load on the machine affects both.
    func ratio(_ value: (LinkFinding) -> Double) -> String {
      Spread(zip(found, limits).map { value($0) / value($1) }).text(places: 2)
    }
    return [
      "\(count)", subject.rawValue,
      Spread(found.map { $0.latencyNs(0.5) }).text(in: 1e6),
      Spread(found.map { $0.latencyNs(0.99) }).text(in: 1e6),
      ratio { $0.latencyNs(0.5) },
      Spread(found.map(\.processorNsPerFrame)).text(in: 1e6, places: 2),
      ratio(\.processorNsPerFrame),
      Spread(found.map { $0.framesPerSecond / Double(count) }).median.text(places: 1),
    ]
  }
}

/// A way to bring streams to another machine.
enum LinkSubject: String, CaseIterable {
  /// On each side two processes, connected by the bus of a group: capture and upload, capture and
  /// subscriber.
  case framebus
  /// The same elements of GStreamer in one process on each side.
  case limit
}

/// The pictures and the programs of one stream.
struct LinkScene {
  static let (width, height, framesPerSecond) = (320, 240, 25)
  static let text = "\(width)x\(height) at \(framesPerSecond) fps"

  let near, far: String
  let port: UInt16
  let stream: String

  private var peer: String { "srt://127.0.0.1:\(port)" }
  private var listener: String { peer + "?mode=listener" }

  /// What receives, the reader of the pictures last.
  func receivers(of subject: LinkSubject) throws -> [CaptureSubject.Program] {
    switch subject {
    case .framebus:
      [
        try own(
          "framebus-capture-gstreamer", ["--sound", "none"] + group(far) + ["--", listener]),
        try own("BusViewer", [far, stream, "marks"]),
      ]
    case .limit: [try own("LiveReceiver", ["srt", listener])]
    }
  }

  func senders(of subject: LinkSubject) throws -> [CaptureSubject.Program] {
    switch subject {
    case .framebus:
      [
        try own(
          "framebus-capture",
          ["--size", "\(Self.width)x\(Self.height)", "--fps", "\(Self.framesPerSecond)"]
            + group(near) + ["--", "test:bars"]),
        try own("framebus-upload", group(near) + ["--", peer]),
      ]
    case .limit:
      [
        try own(
          "BareUpload",
          [peer, "\(Self.width)", "\(Self.height)", "\(Self.framesPerSecond)", "framebusconvert"])
      ]
    }
  }

  private func group(_ root: String) -> [String] {
    ["--root", root, "--group", GroupID.local.description, "--stream", stream]
  }

  private func own(
    _ name: String, _ arguments: [String]
  ) throws(MissingSubject) -> CaptureSubject.Program {
    try .own(name, arguments, for: "link")
  }
}
