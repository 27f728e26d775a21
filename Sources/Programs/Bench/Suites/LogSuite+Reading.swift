import AppGroup
import CommandLineSupport
import Platform

/// The cost of reading a log: all of it at once, and line by line as it grows. There is no bare
/// primitive to compare with.
extension LogSuite {
  private enum Reading: String, CaseIterable {
    case merge = "merge 8 processes"
    case follow = "follow"
  }

  private static let writers = 8
  private static let mergedLines = 1_000_000
  private static let followedLines = 400

  func readingReport(_ run: BenchRun) throws -> BenchReport {
    guard let reader = siblingProgram(named: "BusLogReader"),
      let writer = siblingProgram(named: "BusLog")
    else {
      throw MissingSubject(
        subject: "framebus", program: "BusLogReader", remedy: "run `swift build`")
    }
    var records: [BenchRecord] = []
    var lines: [String] = []
    for reading in Reading.allCases {
      var figures: [Figures] = []
      for round in 0..<run.rounds {
        if run.stop.isRaised { throw Interrupted() }
        run.terminal.progress("\(reading.rawValue), round \(round + 1) of \(run.rounds)")
        figures.append(
          try inGroup { root in
            reading == .merge
              ? try merge(reader, writer, in: root) : try follow(reader, in: root)
          })
      }
      lines += ["", reading.rawValue] + Self.lines(reading, figures)
      records.append(record(scenario: reading.rawValue, subject: "framebus", figures))
    }
    return BenchReport(records: records, lines: lines)
  }

  private static func lines(_ reading: Reading, _ figures: [Figures]) -> [String] {
    switch reading {
    case .merge:
      let seconds = Spread(figures.map { Double(mergedLines) / $0.per_second })
      return ["\(mergedLines) lines: \(seconds.text(places: 2)) s"]
    case .follow:
      let half = Spread(figures.map { Double($0.p50_ns) / 1000 })
      let most = Spread(figures.map { Double($0.p99_ns) / 1000 })
      return ["µs old when read: p50 \(half.text(places: 0)), p99 \(most.text(places: 0))"]
    }
  }

  private func merge(_ reader: String, _ writer: String, in root: String) throws -> Figures {
    let count = Self.mergedLines / Self.writers
    let writers = try (0..<Self.writers).map { _ in
      try StartedProgram("BusLog", writer, ["rate", root, "lines=\(count)"])
    }
    for writer in writers { _ = try finish(writer) }
    return try finish(
      StartedProgram("BusLogReader", reader, ["merge", root, "lines=\(Self.mergedLines)"]))
  }

  private func follow(_ reader: String, in root: String) throws -> Figures {
    let settings = [root, "lines=\(Self.followedLines)"]
    let ready = try StopSignal()
    let follower = try StartedProgram("BusLogReader", reader, ["follow"] + settings) { line in
      if line == "ready" { ready.raise() }
    }
    defer { follower.stop() }
    _ = try waitUntilReadable(
      [ready.descriptorNumber, follower.process.descriptorNumber], until: .after(.seconds(60)))
    let appender = try StartedProgram("BusLogReader", reader, ["append"] + settings)
    defer { appender.stop() }
    return try finish(follower)
  }
}
