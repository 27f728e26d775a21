import AppGroup
import CommandLineSupport
import Platform

/// The cost of a large screen for a subscriber that shows it in few pixels, beside one that needs
/// all of it, and beside a screen that is as small.
struct DemandSuite: BenchSuite {
  let name = "demand"

  /// In turns, on the screen of their size.
  private static let subjects: [(name: String, screen: (Int, Int), demand: [Int])] = [
    ("everything", (3840, 2160), []),
    ("phone", (3840, 2160), [1170, 658]),
    ("phone, 10 fps", (3840, 2160), [1170, 658, 10]),
    ("small screen", (1280, 720), []),
  ]
  private static let framesPerSecond = 30
  private static let defaultSeconds = 5

  func run(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-capture-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    var started: [StartedProgram] = []
    defer { for program in started.reversed() { program.stop() } }
    var turns: [CaptureTurn] = []
    for (name, (width, height), demand) in Self.subjects {
      let earlier = turns.first { ($0.scene?.width, $0.scene?.height) == (width, height) }
      if let earlier, let scene = earlier.scene {
        turns.append(earlier.of(try scene.watched(name, turns.count, demand)))
        continue
      }
      let screen = try VirtualDisplay(width: width, height: height, stop: run.stop)
      started.append(screen.server)
      let scene = CaptureScene(
        display: screen.name, width: width, height: height, framesPerSecond: Self.framesPerSecond,
        folder: folder.path, groupID: GroupID.local.description)
      started.append(try scene.showContent())
      turns.append(
        CaptureTurn(
          subject: try scene.watched(name, turns.count, demand), scene: scene,
          folder: folder.path,
          serverID: screen.server.process.processID, run: run,
          seconds: run.wholeSeconds(or: Self.defaultSeconds)))
    }
    let findings = try CaptureTurn.findings(of: turns, run)
    for program in started { if let error = program.errorIfEnded() { throw error } }
    return report(zip(turns, findings).map { ($0, $1) }, run)
  }

  private func report(
    _ results: [(turn: CaptureTurn, findings: [CaptureFinding])], _ run: BenchRun
  ) -> BenchReport {
    var records: [BenchRecord] = []
    var table = TextTable([
      "subject", "screen", "picture", "CPU ms a picture", "ratio to everything", "X server",
      "capture",
      "viewer", "fps", "CPU ms a second", "ratio to everything",
    ])
    let everything = results[0].findings
    for (turn, findings) in results {
      let screen = turn.scene.map { "\($0.width)x\($0.height)" } ?? ""
      let picture = findings.last?.picture ?? "?"
      let requested = turn.subject.programs[1].arguments.dropFirst(4).first
      let frame = Spread(findings.map(\.wholeNsPerFrame))
      let second = Spread(findings.map(\.wholeNsPerSecond))
      let rate = Spread(findings.map(\.framesPerSecond))
      func part(_ value: (CaptureFinding) -> Double) -> String {
        Spread(findings.map(value)).text(in: 1e6)
      }
      func ratio(_ value: (CaptureFinding) -> Double) -> String {
        // Within a round, so that load on the machine affects both.
        Spread(zip(findings, everything).map { value($0) / value($1) }).text(places: 2)
      }
      var record = BenchRecord(
        suite: name,
        scenario: "\(screen) to \(picture) at \(requested ?? "\(Self.framesPerSecond)") fps",
        subject: turn.subject.name, samples: findings.reduce(0) { $0 + $1.sample.frames })
      record.cpu_ns_per_frame = UInt64(frame.median.rounded())
      record.per_second = (rate.median * 1000).rounded() / 1000
      record.set(rounds: findings.map(\.processorNsPerFrame), unit: "ns")
      records.append(record)
      table.add([
        turn.subject.name, screen, picture, frame.text(in: 1e6), ratio(\.wholeNsPerFrame),
        part(\.serverNsPerFrame), part(\.publisherNsPerFrame),
        part { $0.processorNsPerFrame - $0.publisherNsPerFrame }, rate.text(),
        second.text(in: 1e6, places: 0), ratio(\.wholeNsPerSecond),
      ])
    }
    let heading =
      "\(name): all of a screen for a viewer that reads each picture, \(run.rounds) rounds of "
      + "\(run.wholeSeconds(or: Self.defaultSeconds)) s each, median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }
}

extension CaptureScene {
  /// - Parameter demand: width and height of the box in which the viewer shows the screen, and the
  ///   most frames a second; what is missing is not stated.
  fileprivate func watched(
    _ name: String, _ number: Int, _ demand: [Int]
  ) throws(MissingSubject) -> CaptureSubject {
    let stream = "watched.\(number)"
    let viewer = try own("BusViewer", for: name)
    return CaptureSubject(
      name,
      [
        try capture(name, stream: stream, ["--backend", "shm"]),
        .init(
          name: "BusViewer", path: viewer, arguments: [folder, stream] + demand.map { "\($0)" }),
      ])
  }
}

extension CaptureTurn {
  fileprivate func of(_ subject: CaptureSubject) -> CaptureTurn {
    CaptureTurn(
      subject: subject, scene: scene, folder: folder, serverID: serverID, run: run, seconds: seconds
    )
  }
}

extension CaptureFinding {
  /// That of all programs, and of the X server, whose drawing all subjects share.
  fileprivate var wholeNsPerFrame: Double { processorNsPerFrame + serverNsPerFrame }
  /// The size of the last picture, in the viewer's last line.
  fileprivate var picture: String? {
    guard
      let words = output.split(separator: "\n").last?.split(whereSeparator: { " ,".contains($0) }),
      words.count > 2
    else { return nil }
    return String(words[2])
  }
  fileprivate var wholeNsPerSecond: Double { wholeNsPerFrame * framesPerSecond }
}
