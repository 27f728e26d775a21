import AppGroup
import CommandLineSupport
import Platform

/// The cost of several destinations of one upload, compared with one of them, with an upload for
/// each, and with one pipeline of GStreamer's own.
struct DestinationsSuite: BenchSuite {
  let name = "destinations"

  private static let defaultSeconds = 8

  func run(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-dest-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    _ = try Directory(path: folder.path).makeDirectory("web", mode: 0o700)
    defer { run.terminal.endProgress() }
    let subjects = DestinationsSubject.allCases.filter { run.hasPeers || $0 != .gstreamer }
    var records: [BenchRecord] = []
    var table = TextTable([
      "scenario", "subject", "CPU ms a picture", "of encoding and sending", "ratio to one", "fps",
    ])
    for hasSound in [false, true] {
      let scene = DestinationsScene(
        folder: folder.path, groupID: GroupID.local.description, hasSound: hasSound)
      let findings = try measure(subjects, scene, run)
      for (subject, found) in zip(subjects, findings) {
        records.append(record(subject, scene, found))
        table.add(row(subject, scene, found, comparedWith: findings[0]))
      }
    }
    let heading =
      "\(name): whip:, file: and hls:, \(run.rounds) rounds of "
      + "\(run.wholeSeconds(or: Self.defaultSeconds)) s each, median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }

  private func measure(
    _ subjects: [DestinationsSubject], _ scene: DestinationsScene, _ run: BenchRun
  ) throws -> [[DestinationsFinding]] {
    var findings: [[DestinationsFinding]] = subjects.map { _ in [] }
    for round in 0..<run.rounds {
      // Alternating direction, so that no subject always follows the same one.
      let order = round % 2 == 0 ? Array(subjects.indices) : subjects.indices.reversed()
      for index in order {
        run.terminal.progress(
          "\(scene.text), round \(round + 1) of \(run.rounds): \(subjects[index].rawValue)")
        let turn = DestinationsTurn(
          subject: subjects[index], scene: scene, run: run,
          seconds: run.wholeSeconds(or: Self.defaultSeconds))
        findings[index].append(try turn.measure())
      }
    }
    return findings
  }

  private func record(
    _ subject: DestinationsSubject, _ scene: DestinationsScene, _ found: [DestinationsFinding]
  ) -> BenchRecord {
    var record = BenchRecord(
      suite: name, scenario: scene.text, subject: subject.rawValue,
      samples: found.reduce(0) { $0 + $1.sample.frames })
    record.per_second = Spread(found.map(\.framesPerSecond)).median
    record.cpu_ns_per_frame = UInt64(Spread(found.map(\.processorNsPerFrame)).median)
    record.set(rounds: found.map(\.processorNsPerFrame), unit: "ns")
    return record
  }

  private func row(
    _ subject: DestinationsSubject, _ scene: DestinationsScene, _ found: [DestinationsFinding],
    comparedWith one: [DestinationsFinding]
  ) -> [String] {
    let uploading = subject == .gstreamer ? [] : found.map(\.uploadNsPerFrame)
    // Within a round, so that load on the machine affects both.
    let ratios = zip(uploading, one).map { $0 / $1.uploadNsPerFrame }
    return [
      scene.text, subject.rawValue,
      Spread(found.map(\.processorNsPerFrame)).text(in: 1e6, places: 2),
      uploading.isEmpty ? "" : Spread(uploading).text(in: 1e6, places: 2),
      ratios.isEmpty ? "" : Spread(ratios).text(places: 2),
      Spread(found.map(\.framesPerSecond)).median.text(places: 1),
    ]
  }
}

/// The measurements of one subject in one round.
private struct DestinationsFinding: Sendable {
  let sample: FrameSample
  /// The number of processes that publish, the first ones.
  let sourceCount: Int

  var processorNsPerFrame: Double { perFrame(sample.processNs[...]) }
  /// Without what publishes.
  var uploadNsPerFrame: Double { perFrame(sample.processNs.dropFirst(sourceCount)) }
  var framesPerSecond: Double { Double(sample.frames) * 1e9 / Double(sample.elapsedNs) }

  private func perFrame(_ times: ArraySlice<UInt64>) -> Double {
    Double(times.reduce(0, +)) / Double(sample.frames)
  }
}

/// One turn of a subject: starts a receiver and then its programs, measures them for some seconds,
/// and stops all in all cases.
private struct DestinationsTurn {
  let subject: DestinationsSubject
  let scene: DestinationsScene
  let run: BenchRun
  let seconds: Int

  func measure() throws -> DestinationsFinding {
    try run.withReceiver(for: subject.rawValue) { turn in
      let sampler = try FrameSampler(serverID: turn.receiverID, seconds: seconds)
      let sources = try scene.sources(of: subject)
      for program in sources { try turn.start(program) }
      for (index, program) in try scene.uploaders(of: subject, to: turn.port).enumerated() {
        // The first one counts the pictures for all.
        try turn.start(program) { line in if index == 0 { sampler.note(line) } }
      }
      sampler.begin(turn.senderIDs)
      try run.wait(
        for: sampler.done, of: turn.started, subject: subject.rawValue, seconds: seconds)
      guard let sample = sampler.sample else { throw Interrupted() }
      return DestinationsFinding(sample: sample, sourceCount: sources.count)
    }
  }
}
