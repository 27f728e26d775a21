import AppGroup
import Platform
import SharedLog
import SubjectKit

// A reader of a SharedLog as a subject of `framebus bench log`: a user's program, with the public
// API alone.

/// `BusLogReader merge|follow|append DIRECTORY lines=N`. DIRECTORY is the root of a group.
///
/// - `merge` reads all existing lines once.
/// - `append` appends a line every few milliseconds, like a program that logs now and then.
/// - `follow` waits for N lines, and reports the age of each when it was read.
@main
struct Program {
  static func main() { runSubject(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let count = Int(arguments[3].dropFirst(6)), count > 0 else {
      throw Usage()
    }
    let group = try AppGroup.open(.local, root: arguments[2])
    switch arguments[1] {
    case "merge": try merge(group, count)
    case "follow": try follow(group, count)
    case "append": try append(group, count)
    default: throw Usage()
    }
  }

  private static func merge(_ group: AppGroup, _ expected: Int) throws {
    let begin = monotonicNowNs()
    let reader = try LogReader(group)
    var count = 0
    var messageBytes = 0
    while case .line(let record)? = try reader.next() {
      count += 1
      // Decoded now, as by a program that shows the lines.
      messageBytes += record.message.utf8.count
    }
    let elapsed = monotonicNowNs() - begin
    guard count == expected, messageBytes > count else {
      throw WrongCount(count: count, expected: expected)
    }
    let perLine = elapsed / UInt64(count)
    try report([perLine], perSecond: Double(count) * 1e9 / Double(elapsed), samples: count)
  }

  private static func append(_ group: AppGroup, _ count: Int) throws {
    let log = try SharedLog.open(group, role: .host)
    for number in 0..<count {
      // At uneven intervals, so that lines do not always meet the same phase of the log's writer.
      sleep(until: .after(.microseconds(3000 + number * 7919 % 17_000)))
      log.append(.info, "a line for the follower", label: "bench")
    }
    try log.close()
  }

  private static func follow(_ group: AppGroup, _ count: Int) throws {
    let stop = try StopSignal()
    let reader = try LogReader(group, isFollowing: true)
    var ages: [UInt64] = []
    let begin = monotonicNowNs()
    try writeFully(Array("ready\n".utf8), to: 1)
    while ages.count < count {
      while case .line(let record)? = try reader.next() {
        ages.append(monotonicNowNs() - record.monotonicNs)
      }
      if ages.count < count { _ = try reader.wait(stop: stop, until: .after(.seconds(60))) }
    }
    let elapsed = monotonicNowNs() - begin
    ages.sort()
    try report(ages, perSecond: Double(count) * 1e9 / Double(elapsed), samples: count)
  }

  /// - Parameter times: ascending.
  private static func report(_ times: [UInt64], perSecond: Double, samples: Int) throws {
    func quantile(_ thousandths: Int) -> UInt64 { times[times.count * thousandths / 1000] }
    let text =
      "{\"p50_ns\":\(quantile(500)),\"p99_ns\":\(quantile(990)),\"p999_ns\":\(quantile(999)),"
      + "\"per_second\":\(perSecond.rounded()),\"samples\":\(samples)}\n"
    try writeFully(Array(text.utf8), to: 1)
  }
}

private struct Usage: Error, CustomStringConvertible {
  let description = "usage: BusLogReader merge|follow|append DIRECTORY lines=N"
}

private struct WrongCount: Error, CustomStringConvertible {
  let count: Int
  let expected: Int
  var description: String { "read \(count) lines instead of \(expected)" }
}
