import AppGroup
import CommandLineSupport
import Platform

/// The rate at which frames of a publisher that waits are recorded to a file: `framebus record`
/// compared with `dd`, which copies the same bytes by one direct write at a time, without a bus.
struct RecordSuite: BenchSuite {
  let name = "record"

  private static let width = 1920
  private static let height = 1080
  private static let frameBytes = width * height * 3 / 2
  private static let framesPerSecond = 30

  private static let defaultSeconds = 2

  /// Its rates are in bytes a second, one for each round.
  private struct Subject {
    let name: String
    let measure: () throws -> Double
    var rates: [Double] = []
  }

  func run(_ run: BenchRun) throws -> BenchReport {
    let folder = try TemporaryFolder(prefix: "framebus-bench-record-")
    defer { try? folder.remove() }
    _ = try AppGroup.create(.local, root: folder.path)
    let input = folder.path + "/in.y4m"
    let output = folder.path + "/out"
    let frames = Self.framesPerSecond * run.wholeSeconds(or: Self.defaultSeconds)
    try writeFilm(of: frames, to: input)
    var subjects = [
      Subject(name: "framebus") { try record(input, to: output, in: folder.path) },
      Subject(name: "limit") { try copy(of: frames, input, to: output) },
    ]
    defer { run.terminal.endProgress() }
    for round in 0..<run.rounds {
      // Alternating direction, so that neither always follows the other.
      for index in round % 2 == 0 ? [0, 1] : [1, 0] {
        if run.stop.isRaised { throw Interrupted() }
        run.terminal.progress("round \(round + 1) of \(run.rounds): \(subjects[index].name)")
        subjects[index].rates.append(try subjects[index].measure())
      }
    }
    return report(subjects, of: frames, run)
  }

  /// Writes a y4m file of grey pictures; it stays in the page cache.
  private func writeFilm(of frames: Int, to path: String) throws(SystemError) {
    var file = try BlockFile(creating: path)
    let header = Array("YUV4MPEG2 W\(Self.width) H\(Self.height) F60:1 Ip C420jpeg\n".utf8)
    let frame = Array("FRAME\n".utf8) + [UInt8](repeating: 128, count: Self.frameBytes)
    try file.write(header, at: 0)
    for index in 0..<frames {
      try file.write(frame, at: UInt64(header.count + index * frame.count))
    }
    try file.sync()
  }

  private func record(_ input: String, to output: String, in folder: String) throws -> Double {
    let group = ["--root", folder, "--stream", "film"]
    let capture = try start("framebus-capture", ["y4m:\(input)", "--quiet"] + group)
    let recorder = try start("framebus", ["record", "film", output, "--json", "--root", folder])
    try waitForEnd(of: recorder)
    try waitForEnd(of: capture)
    let figures = try lastObject(Recorded.self, in: recorder.collectedOutput(), of: "framebus")
    return figures.bytes_per_second
  }

  private struct Recorded: Decodable { let bytes_per_second: Double }

  private func copy(of frames: Int, _ input: String, to output: String) throws -> Double {
    let before = monotonicNowNs()
    // Whole blocks of about a frame; dd syncs its file, as the recorder does.
    let dd = try start(
      "dd", ["if=\(input)", "of=\(output)", "bs=3112960", "oflag=direct", "conv=fsync"])
    try waitForEnd(of: dd)
    let seconds = Double(monotonicNowNs() - before) / 1e9
    return Double(frames * Self.frameBytes) / seconds
  }

  private func start(_ program: String, _ arguments: [String]) throws -> StartedProgram {
    guard let path = siblingProgram(named: program) ?? programInPath(named: program) else {
      throw StartedProgramError.missing(program, package: "coreutils")
    }
    return try StartedProgram(program, path, arguments)
  }

  private func waitForEnd(of program: StartedProgram) throws {
    guard let status = program.process.wait(until: .after(.seconds(300))), status.isSuccess else {
      throw StartedProgramError.ended(
        program.name, program.process.end(), lastWords: program.lastWords)
    }
  }

  private func report(_ subjects: [Subject], of frames: Int, _ run: BenchRun) -> BenchReport {
    let scenario = "\(Self.width)x\(Self.height) 4:2:0, \(frames) frames"
    var table = TextTable(["subject", "MB/s", "ratio to limit"])
    var records: [BenchRecord] = []
    for subject in subjects {
      let rates = Spread(subject.rates)
      // Within a round, so that load on the disk affects both.
      let ratios = Spread(zip(subject.rates, subjects[1].rates).map { $0 / $1 })
      table.add([subject.name, rates.text(in: 1e6), ratios.text(places: 2)])
      var record = BenchRecord(
        suite: name, scenario: scenario, subject: subject.name,
        samples: frames * run.rounds)
      record.per_second = (rates.median / Double(Self.frameBytes) * 1000).rounded() / 1000
      record.set(
        rounds: subject.rates.map { $0 / Double(Self.frameBytes) }, unit: "frames/s")
      records.append(record)
    }
    let heading = "\(name): \(scenario) to a file, \(run.rounds) rounds, median (min–max)"
    return BenchReport(records: records, lines: [heading, ""] + table.lines)
  }
}
