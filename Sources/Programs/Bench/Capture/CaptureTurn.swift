import CommandLineSupport
import Platform

/// The measurements of one subject in one round.
struct CaptureFinding: Sendable {
  let sample: FrameSample
  /// From capture to receipt, for subjects that report it.
  let latency: CaptureLatency?
  /// That of the last program.
  let output: String

  var processorNsPerFrame: Double { perFrame(sample.processNs.reduce(0, +)) }
  var publisherNsPerFrame: Double { perFrame(sample.processNs[0]) }
  var serverNsPerFrame: Double { perFrame(sample.serverNs) }
  var framesPerSecond: Double { Double(sample.frames) * 1e9 / Double(sample.elapsedNs) }

  private func perFrame(_ ns: UInt64) -> Double { Double(ns) / Double(sample.frames) }
}

/// The frame latencies in the output of `framebus-upload --json`.
struct CaptureLatency: Decodable, Sendable {
  let latency_p50_ns: UInt64
  let latency_p99_ns: UInt64
}

/// One turn of a subject: starts its programs, measures them for some seconds, and stops them in
/// all cases.
struct CaptureTurn {
  let subject: CaptureSubject
  /// Nil for a subject that captures no X11 screen.
  var scene: CaptureScene?
  /// The directory for sockets.
  let folder: String
  let serverID: Int32
  let run: BenchRun
  let seconds: Int

  /// The measurements of each subject, one for each round; none for a peer that fails.
  static func findings(
    of turns: [CaptureTurn], _ run: BenchRun
  ) throws -> [[CaptureFinding]] {
    var findings: [[CaptureFinding]] = turns.map { _ in [] }
    var broken: Set<Int> = []
    defer { run.terminal.endProgress() }
    for round in 0..<run.rounds {
      // Alternating direction, so that no subject always follows the same one.
      let order = round % 2 == 0 ? Array(turns.indices) : turns.indices.reversed()
      for index in order {
        if broken.contains(index) { continue }
        let subject = turns[index].subject
        run.terminal.progress("round \(round + 1) of \(run.rounds): \(subject.name)")
        do {
          findings[index].append(try turns[index].measure())
        } catch  where subject.isPeer && !run.stop.isRaised {
          run.terminal.report("skipped \(subject.name): \(error)")
          broken.insert(index)
          findings[index] = []
        }
      }
    }
    return findings
  }

  func measure() throws -> CaptureFinding {
    let sampler = try FrameSampler(serverID: serverID, seconds: seconds)
    let windows = try scene?.showWindows(subject.windowCount)
    defer { windows?.stop() }
    var started: [StartedProgram] = []
    defer { stop(started) }
    for (index, program) in subject.programs.enumerated() {
      if index > 0 { try waitForSocket(of: started) }
      let isLast = index == subject.programs.count - 1
      let frameLine = subject.frameLine
      let onLine: @Sendable (Substring) -> Void = { line in
        guard isLast else { return }
        if let frameLine { sampler.note(line, ofFrame: frameLine) } else { sampler.note(line) }
      }
      started.append(
        try StartedProgram(
          program.name, program.path, program.arguments, environment: program.environment,
          onLine: onLine))
    }
    sampler.begin(started.map(\.process.processID))
    try run.wait(for: sampler.done, of: started, subject: subject.name, seconds: seconds)
    guard let sample = sampler.sample else { throw Interrupted() }
    if let error = windows?.errorIfEnded() { throw error }
    stop(started)
    let last = started.last?.collectedOutput() ?? ""
    return CaptureFinding(
      sample: sample,
      latency: try? lastObject(CaptureLatency.self, in: last, of: subject.name), output: last)
  }

  private func waitForSocket(of started: [StartedProgram]) throws {
    guard let name = subject.socketName, let first = started.first else { return }
    let folder = try Directory(path: folder)
    let deadline = Deadline.after(.seconds(BenchRun.startTimeoutSeconds))
    while try folder.status(of: name) == nil {
      if let error = first.errorIfEnded() { throw error }
      if run.stop.isRaised { throw Interrupted() }
      if deadline.isPast {
        throw NoFrames(
          subject: subject.name, seconds: BenchRun.startTimeoutSeconds,
          lastWords: first.lastWords)
      }
      _ = first.process.wait(until: .after(.milliseconds(20)), stop: run.stop)
    }
  }

  /// Stops the programs in reverse order, so that none loses its input first.
  private func stop(_ started: [StartedProgram]) {
    for program in started.reversed() where program.process.status == nil {
      program.stop(with: subject.endSignal)
    }
  }
}
