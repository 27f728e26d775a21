import ArgumentParser
import CommandLineSupport
import FrameBus
import Platform

/// `framebus top`: shows the group's streams, refreshed at an interval.
struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Monitor streams: rates, lag, latency and drops.",
    discussion: """
      Latency is the time from publish to receive, of frames received since the last refresh. \
      Polling uses the publishers' control sockets and delays no frame. With --json, prints one \
      object per refresh.
      """)

  @Argument(help: ArgumentHelp("Stream to monitor (default: all).", valueName: "stream"))
  var streamText: String?

  @Option(help: ArgumentHelp("Refresh interval in seconds.", valueName: "s"))
  var interval = 1.0

  @Option(help: ArgumentHelp("Stop after N refreshes.", valueName: "n"))
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
    // Before any thread starts, because threads inherit the signal mask.
    let signals = try SignalWatcher()
    KernelFeatures.raiseDescriptorLimit()
    let group = try global.openGroup()
    let inspector = StreamInspector(group)
    let screen = Screen()
    func poll() throws -> [StreamReport] {
      try inspector.poll(timeout: .seconds(min(1, interval)), stop: signals.stop)
        .filter { only == nil || $0.name == only }
    }
    var polledAtNs = monotonicNowNs()
    var earlier = try poll()
    if let only, earlier.isEmpty, !signals.stop.isRaised { throw NoStream(name: only) }
    var polls = 0
    while polls < count ?? .max {
      let due = Deadline(monotonicNs: polledAtNs + UInt64(interval * 1e9))
      if try firstReadable(signals.stop.descriptorNumber, until: due) != nil { break }
      let nowNs = monotonicNowNs()
      let reports = try poll()
      if signals.stop.isRaised { break }
      let seconds = Double(nowNs - polledAtNs) / 1e9
      let activities = reports.map { report in
        StreamActivity(
          report, since: earlier.first { $0.name == report.name }, seconds: seconds)
      }
      try show(activities, of: inspector, seconds: seconds, on: screen)
      (earlier, polledAtNs, polls) = (reports, nowNs, polls + 1)
    }
    if signals.isInterrupted { throw Interrupted() }
  }

  private func show(
    _ activities: [StreamActivity], of inspector: StreamInspector, seconds: Double,
    on screen: Screen
  ) throws {
    if global.json {
      let record = TopRecord(activities, unasked: inspector.unasked.count, seconds: seconds)
      try global.terminal.printJSON(record, onOneLine: true)
    } else {
      let shortfall = TopView.shortfallLine(inspector)
      try screen.show(TopView(activities, shortfall: shortfall).lines)
    }
  }
}

/// The requested stream does not exist.
private struct NoStream: Error, CustomStringConvertible {
  let name: StreamName

  var description: String {
    "there is no stream “\(name)”; start its publisher, or see `framebus streams`"
  }
}

/// Parses a stream name argument.
func streamName(_ text: String) throws(UsageError) -> StreamName {
  do { return try StreamName(text) } catch { throw UsageError("\(error)") }
}
