import AppGroup
import CaptureCamera
import CommandLineSupport
import Platform

/// The cost of passing a camera's pictures to another process that discards them: of a camera of
/// this machine, such as the kernel's test driver `vivid` in `scripts/vm`.
struct CameraSuite: BenchSuite {
  let name = "camera"

  private static let width = 640
  private static let height = 360
  private static let defaultSeconds = 5

  func run(_ run: BenchRun) throws -> BenchReport {
    guard let path = try? CameraSearch.path(of: nil) else {
      return BenchReport(
        records: [],
        lines: ["\(name): not measured: this machine has no camera; `modprobe vivid` makes one"])
    }
    let folder = try TemporaryFolder(prefix: "framebus-bench-camera-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    var subjects = [try framebus(path, folder.path)]
    if run.hasPeers { subjects += peers(path, folder.path) }
    var findings: [[FrameSample]] = subjects.map { _ in [] }
    defer { run.terminal.endProgress() }
    for round in 0..<run.rounds {
      // Alternating direction, so that no subject always follows the same one.
      let order = round % 2 == 0 ? Array(subjects.indices) : subjects.indices.reversed()
      for index in order {
        run.terminal.progress("round \(round + 1) of \(run.rounds): \(subjects[index].name)")
        findings[index].append(try measure(subjects[index], in: folder.path, run))
      }
    }
    return report(Array(zip(subjects, findings)), path, run)
  }

  private func own(_ program: String) throws(MissingSubject) -> String {
    if let path = siblingProgram(named: program) { return path }
    throw MissingSubject(
      subject: "framebus", program: program,
      remedy: "build it: swift build -c release --product \(program)")
  }

  private func framebus(
    _ path: String, _ folder: String
  ) throws(MissingSubject) -> CaptureSubject {
    let group = ["--root", folder, "--stream", "camera", "--json"]
    return CaptureSubject(
      "framebus",
      [
        .init(
          name: "framebus-capture", path: try own("framebus-capture"),
          arguments: ["camera:\(path)", "--size", "\(Self.width)x\(Self.height)"]
            + ["--format", "yuyv"] + group),
        .init(
          name: "framebus-upload", path: try own("framebus-upload"), arguments: ["null"] + group),
      ])
  }

  /// GStreamer's source of the same device: in one process, and, as framebus, in two.
  private func peers(_ path: String, _ folder: String) -> [CaptureSubject] {
    guard let program = programInPath(named: "gst-launch-1.0") else { return [] }
    func launch(_ words: [String]) -> CaptureSubject.Program {
      .init(name: "gst-launch-1.0", path: program, arguments: ["-q"] + words)
    }
    let format = "video/x-raw,format=YUY2,width=\(Self.width),height=\(Self.height)"
    let source = ["v4l2src", "device=\(path)", "!", format, "!"]
    let report = ["progressreport", "do-query=false", "update-freq=1", "format=buffers", "!"]
    let end = ["fakesink", "sync=false"]
    let socket = "\(folder)/shmsink"
    let slots = 8 * Self.width * Self.height * 2
    return [
      CaptureSubject("gstreamer", [launch(source + report + end)], endSignal: Signal.interrupt),
      CaptureSubject(
        "gstreamer-shm",
        [
          launch(
            source + ["shmsink", "socket-path=\(socket)", "sync=false", "wait-for-connection=true"]
              + ["shm-size=\(slots)"]),
          launch(
            ["shmsrc", "socket-path=\(socket)", "do-timestamp=true", "!"]
              + ["\(format),framerate=30/1", "!"] + report + end),
        ], endSignal: Signal.interrupt, socketName: "shmsink"),
    ]
  }

  private func measure(
    _ subject: CaptureSubject, in folder: String, _ run: BenchRun
  ) throws -> FrameSample {
    let seconds = run.wholeSeconds(or: Self.defaultSeconds)
    // The driver's work has no process: this one stands for the server that others have.
    let sampler = try FrameSampler(serverID: currentProcessID(), seconds: seconds)
    var started: [StartedProgram] = []
    defer { for program in started.reversed() { program.stop(with: subject.endSignal) } }
    for (index, program) in subject.programs.enumerated() {
      if index > 0, let name = subject.socketName {
        try waitForSocket(name, in: folder, of: started[0], run)
      }
      let isLast = index == subject.programs.count - 1
      started.append(
        try StartedProgram(program.name, program.path, program.arguments) { line in
          if isLast { sampler.note(line) }
        })
    }
    sampler.begin(started.map(\.process.processID))
    try run.wait(for: sampler.done, of: started, subject: subject.name, seconds: seconds)
    guard let sample = sampler.sample else { throw Interrupted() }
    return sample
  }

  private func waitForSocket(
    _ name: String, in folder: String, of first: StartedProgram, _ run: BenchRun
  ) throws {
    let directory = try Directory(path: folder)
    let deadline = Deadline.after(.seconds(BenchRun.startTimeoutSeconds))
    while try directory.status(of: name) == nil {
      if let error = first.errorIfEnded() { throw error }
      if run.stop.isRaised { throw Interrupted() }
      if deadline.isPast {
        throw NoFrames(
          subject: first.name, seconds: BenchRun.startTimeoutSeconds, lastWords: first.lastWords)
      }
      _ = first.process.wait(until: .after(.milliseconds(20)), stop: run.stop)
    }
  }

  private func report(
    _ results: [(subject: CaptureSubject, samples: [FrameSample])], _ path: String, _ run: BenchRun
  ) -> BenchReport {
    let scenario = "\(Self.width)x\(Self.height) YUYV of \(path)"
    var records: [BenchRecord] = []
    var table = TextTable(["subject", "CPU µs a frame", "first process", "fps"])
    for (subject, samples) in results {
      func perFrame(_ ns: (FrameSample) -> UInt64) -> Spread {
        Spread(samples.map { Double(ns($0)) / Double($0.frames) })
      }
      let all = perFrame { $0.processNs.reduce(0, +) }
      let first = perFrame { $0.processNs[0] }
      let rate = Spread(samples.map { Double($0.frames) * 1e9 / Double($0.elapsedNs) })
      var record = BenchRecord(
        suite: name, scenario: scenario, subject: subject.name,
        samples: samples.reduce(0) { $0 + $1.frames })
      record.cpu_ns_per_frame = UInt64(all.median.rounded())
      record.per_second = (rate.median * 1000).rounded() / 1000
      records.append(record)
      table.add([
        subject.name, all.text(in: 1000), first.text(in: 1000), rate.median.text(places: 1),
      ])
    }
    let heading =
      "\(name): \(scenario) to nowhere, \(run.rounds) rounds of "
      + "\(run.wholeSeconds(or: Self.defaultSeconds)) s each, median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }
}
