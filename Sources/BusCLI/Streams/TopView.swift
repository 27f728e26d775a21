import CommandLineSupport
import FrameBus

/// The screen lines of `framebus top`.
struct TopView {
  let lines: [Screen.Line]

  /// - Parameter shortfall: a warning about sockets that were not polled; nil if all were.
  init(_ activities: [StreamActivity], shortfall: String?) {
    let streams =
      activities.isEmpty
      ? [Screen.Line("no stream; start one, as with `framebus capture screen`")]
      : activities.flatMap(Self.lines)
    lines = streams + (shortfall.map { [Screen.Line($0, .alarm)] } ?? [])
  }

  private static func lines(_ activity: StreamActivity) -> [Screen.Line] {
    guard case .answered(let status) = activity.report else {
      return [Screen.Line(silentLine(activity.report), .alarm)]
    }
    var parts = [status.name.text, status.stateText, status.formatText]
    parts.append("\(activity.framesPerSecond.text(places: 1)) fps")
    parts.append("\((activity.bytesPerSecond / 1e6).text(places: 1)) MB/s")
    parts.append("pid \(status.publisherPID)")
    if let application = status.application { parts.append("in front \(application)") }
    if status.evictions > 0 { parts.append("\(status.evictions) evicted") }
    if status.owed > 0 { parts.append("\(status.owed) owed memory") }
    let heading = Screen.Line(parts.joined(separator: "  "), .heading)
    guard !activity.subscribers.isEmpty else {
      return [heading, Screen.Line("  no subscribers")]
    }
    var table = TextTable(["  id", "pid", "policy", "fps", "lag", "held", "p50", "p99", "drops"])
    for subscriber in activity.subscribers { table.add(row(subscriber)) }
    let alarms = [false] + activity.subscribers.map { $0.drops.contains { $0 > 0 } }
    return [heading] + zip(table.lines, alarms).map { Screen.Line($0, $1 ? .alarm : .plain) }
  }

  static func silentLine(_ report: StreamReport) -> String {
    guard case .silent(let name, let pid) = report else { return "" }
    guard pid > 0 else {
      return "\(name)  not answering: its publisher takes no connection; it is stopped or very busy"
    }
    return "\(name)  not answering: its publisher, pid \(pid), is stopped or very busy"
  }

  /// A warning about sockets that the last poll skipped; nil if it skipped none.
  static func shortfallLine(_ inspector: StreamInspector) -> String? {
    let count = inspector.unasked.count
    guard count > 0 else { return nil }
    return "\(counted(count, "socket")) in \(inspector.directoryPath) not asked: too many do not "
      + "answer; remove the sockets that are not streams, or stop their processes"
  }

  private static func row(_ activity: SubscriberActivity) -> [String] {
    let status = activity.status
    let reasons = zip(DropReason.allCases, activity.drops).filter { $0.1 > 0 }
    return [
      "  \(status.id)", "\(status.pid)", status.policy?.rawValue ?? "?",
      activity.framesPerSecond.text(places: 1), "\(status.lag)", "\(status.held)",
      time(activity.latencies.quantileNs(0.5)), time(activity.latencies.quantileNs(0.99)),
      reasons.isEmpty ? "0" : reasons.map { "\($0.1) \($0.0)" }.joined(separator: ", "),
    ]
  }

  private static func time(_ ns: UInt64?) -> String {
    guard let ns else { return "–" }
    return switch ns {
    case ..<1000: "\(ns) ns"
    case ..<10_000_000: "\((Double(ns) / 1e3).text(places: ns < 100_000 ? 1 : 0)) µs"
    default: "\((Double(ns) / 1e6).text(places: 0)) ms"
    }
  }
}

extension StreamStatus {
  /// Human-readable.
  var formatText: String { format?.text ?? "no format yet" }
  /// Such as `live`, or `paused (its source is changing)`.
  var stateText: String {
    state.rawValue + (pauseReason.map { " (\($0.explanation))" } ?? "")
  }
}

/// The JSON form of one poll.
struct TopRecord: Encodable {
  struct Stream: Encodable {
    let name: String
    let state: String
    /// Why a paused stream is paused; left out for others.
    let reason: String?
    /// The front application of its source; left out if unknown.
    let application: String?
    let publisher: StreamRecord.Publisher
    let fps: Double
    let bytes_per_second: Double
    let subscribers: [Subscriber]
  }

  struct Subscriber: Encodable {
    let id: Int
    let pid: Int32
    let policy: String?
    let fps: Double
    let lag: UInt64
    let held: Int
    /// Of frames received since the previous poll; left out if there were none.
    let p50_ns: UInt64?
    let p99_ns: UInt64?
    let dropsByReason: [String: UInt64]
  }

  let seconds: Double
  let streams: [Stream]
  /// Number of sockets not polled before the deadline; left out if 0.
  let unasked: Int?

  init(_ activities: [StreamActivity], unasked: Int, seconds: Double) {
    self.seconds = seconds.rounded(places: 3)
    self.unasked = unasked > 0 ? unasked : nil
    streams = activities.map { activity in
      let stream = StreamRecord(activity.report)
      return Stream(
        name: stream.name, state: stream.state, reason: stream.reason,
        application: stream.application, publisher: stream.publisher,
        fps: activity.framesPerSecond.rounded(places: 3),
        bytes_per_second: activity.bytesPerSecond.rounded(),
        subscribers: activity.subscribers.map { subscriber in
          Subscriber(
            id: subscriber.status.id, pid: subscriber.status.pid,
            policy: subscriber.status.policy?.rawValue,
            fps: subscriber.framesPerSecond.rounded(places: 3), lag: subscriber.status.lag,
            held: subscriber.status.held, p50_ns: subscriber.latencies.quantileNs(0.5),
            p99_ns: subscriber.latencies.quantileNs(0.99), dropsByReason: subscriber.drops.byReason)
        })
    }
  }
}

extension Double {
  fileprivate func rounded(places: Int) -> Double {
    let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
    return (self * scale).rounded() / scale
  }
}
