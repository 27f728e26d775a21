import ArgumentParser
import CommandLineSupport
import FrameBus
import Platform

/// `framebus top`: what flows in the group, looked at again and again.
struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Watch the streams of the group: rates, lag, latency and drops of each subscriber.",
    discussion: """
      Latency is from publish to receive, of the frames received since the look before. Looking \
      asks the publishers' control planes and delays no frame. With --json, one object a look.
      """)

  @Argument(help: ArgumentHelp("The only stream to watch.", valueName: "stream"))
  var streamText: String?

  @Option(help: ArgumentHelp("Seconds from one look to the next.", valueName: "s"))
  var interval = 1.0

  @Option(help: ArgumentHelp("End after N looks.", valueName: "n"))
  var count: Int?

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard interval >= 0.1, interval <= 86_400 else {
      throw ValidationError("--interval \(interval): use 0.1 to 86400 seconds")
    }
    if let count, count < 1 { throw ValidationError("--count \(count): use 1 or more") }
  }

  func run() throws {
    let only = try streamText.map(streamName)
    // First of all, so that no thread is without it.
    let signals = try SignalWatcher()
    KernelFeatures.raiseDescriptorLimit()
    let inspector = StreamInspector(try global.openGroup())
    let screen = Screen()
    func look() throws -> [StreamReport] {
      try inspector.look(patience: .seconds(min(1, interval)), stop: signals.stop)
        .filter { only == nil || $0.name == only }
    }
    var lookedAtNs = monotonicNowNs()
    var earlier = try look()
    if let only, earlier.isEmpty, !signals.stop.isRaised { throw NoStream(name: only) }
    var looks = 0
    while looks < count ?? .max {
      let due = Deadline(monotonicNs: lookedAtNs + UInt64(interval * 1e9))
      if try firstReadable(signals.stop.descriptorNumber, until: due) != nil { break }
      let nowNs = monotonicNowNs()
      let reports = try look()
      if signals.stop.isRaised { break }
      let seconds = Double(nowNs - lookedAtNs) / 1e9
      try show(reports, of: inspector, since: earlier, seconds: seconds, on: screen)
      (earlier, lookedAtNs, looks) = (reports, nowNs, looks + 1)
    }
    if signals.isInterrupted { throw Interrupted() }
  }

  private func show(
    _ reports: [StreamReport], of inspector: StreamInspector, since earlier: [StreamReport],
    seconds: Double, on screen: Screen
  ) throws {
    let activities = reports.map { report in
      StreamActivity(
        report, since: earlier.first { $0.name == report.name }, seconds: seconds)
    }
    if global.json {
      let record = TopRecord(activities, unasked: inspector.unasked.count, seconds: seconds)
      try global.terminal.printJSON(record, onOneLine: true)
    } else {
      let shortfall = TopView.shortfallLine(inspector)
      try screen.show(TopView(activities, shortfall: shortfall).lines)
    }
  }
}

/// The stream to watch is not there.
private struct NoStream: Error, CustomStringConvertible {
  let name: StreamName

  var description: String {
    "there is no stream “\(name)”; start its publisher, or see `framebus streams`"
  }
}

/// A stream's name from the command line.
func streamName(_ text: String) throws(UsageError) -> StreamName {
  do { return try StreamName(text) } catch { throw UsageError("\(error)") }
}
