import AppGroup
import CommandLineSupport
import Platform

/// The cost of a live upload, from drawing a picture to decoding it in a receiver, compared with
/// one process that draws, encodes and sends without a bus.
struct UploadSuite: BenchSuite {
  let name = "upload"

  private static let defaultSeconds = 8

  func run(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-upload-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    let scenes = [(1280, 720), (1920, 1080)].map { width, height in
      UploadScene(
        width: width, height: height, framesPerSecond: 30, folder: folder.path,
        groupID: GroupID.local.description)
    }
    let subjects = UploadSubject.allCases.filter { run.hasPeers || $0 != .gstreamer }
    var records: [BenchRecord] = []
    var table = TextTable([
      "scenario", "subject", "latency ms", "p99", "ratio to limit", "CPU ms a frame",
      "ratio to limit", "own memory MB", "ratio to limit", "with shared MB", "fps",
    ])
    defer { run.terminal.endProgress() }
    for scene in scenes {
      let findings = try measure(subjects, scene, run)
      for (subject, found) in zip(subjects, findings) {
        records.append(record(subject, scene, found))
        table.add(row(subject, scene, found, comparedWith: findings[1]))
      }
    }
    let heading =
      "\(name): by WHIP to a receiver that decodes, \(run.rounds) rounds of "
      + "\(run.wholeSeconds(or: Self.defaultSeconds)) s each, median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }

  private func measure(
    _ subjects: [UploadSubject], _ scene: UploadScene, _ run: BenchRun
  ) throws -> [[UploadFinding]] {
    var findings: [[UploadFinding]] = subjects.map { _ in [] }
    for round in 0..<run.rounds {
      // Alternating direction, so that no subject always follows the same one.
      let order = round % 2 == 0 ? Array(subjects.indices) : subjects.indices.reversed()
      for index in order {
        let subject = subjects[index]
        run.terminal.progress(
          "\(scene.text), round \(round + 1) of \(run.rounds): \(subject.rawValue)")
        let turn = UploadTurn(
          subject: subject, scene: scene, run: run,
          seconds: run.wholeSeconds(or: Self.defaultSeconds))
        findings[index].append(try turn.measure())
      }
    }
    return findings
  }

  private func record(
    _ subject: UploadSubject, _ scene: UploadScene, _ found: [UploadFinding]
  ) -> BenchRecord {
    var record = BenchRecord(
      suite: name, scenario: scene.text, subject: subject.rawValue,
      samples: found.reduce(0) { $0 + $1.latenciesNs.count })
    func median(_ value: (UploadFinding) -> Double) -> Double { Spread(found.map(value)).median }
    record.p50_ns = UInt64(median { $0.latencyNs(0.5) })
    record.p99_ns = UInt64(median { $0.latencyNs(0.99) })
    record.per_second = (median(\.framesPerSecond) * 1000).rounded() / 1000
    record.cpu_ns_per_frame = UInt64(median(\.processorNsPerFrame))
    record.set(rounds: found.map(\.processorNsPerFrame), unit: "ns")
    record.memory_bytes = UInt64(median { Double($0.privateBytes) })
    return record
  }

  private func row(
    _ subject: UploadSubject, _ scene: UploadScene, _ found: [UploadFinding],
    comparedWith limits: [UploadFinding]
  ) -> [String] {
    func text(_ unit: Double, _ value: (UploadFinding) -> Double) -> String {
      Spread(found.map(value)).text(in: unit)
    }
    // Within a round, so that load on the machine affects both.
    func ratio(_ value: (UploadFinding) -> Double) -> String {
      Spread(zip(found, limits).map { value($0) / value($1) }).text(places: 2)
    }
    return [
      scene.text, subject.rawValue,
      text(1e6) { $0.latencyNs(0.5) }, text(1e6) { $0.latencyNs(0.99) },
      ratio { $0.latencyNs(0.5) },
      Spread(found.map(\.processorNsPerFrame)).text(in: 1e6, places: 2),
      ratio(\.processorNsPerFrame),
      text(1e6) { Double($0.privateBytes) }, ratio { Double($0.privateBytes) },
      found.allSatisfy { $0.memoryBytes != nil } ? text(1e6) { Double($0.memoryBytes ?? 0) } : "",
      Spread(found.map(\.framesPerSecond)).median.text(places: 1),
    ]
  }
}
