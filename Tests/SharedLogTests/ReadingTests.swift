import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

/// Readers see all runs as one log.
@Suite struct ReadingTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  @Test func linesOfSeveralRunsAreMergedByTime() throws {
    let first = try world.log()
    let second = try world.log()
    for number in stride(from: 0, to: 100, by: 2) {
      first.append(.info, "\(number)")
      second.append(.info, "\(number + 1)")
      if number == 50 { try first.close() }
      if number == 50 { break }
    }
    for number in 52..<60 { second.append(.info, "\(number)") }
    #expect(try world.messages() == (0..<60).map { "\($0)" })
    try second.close()
    #expect(try world.messages() == (0..<60).map { "\($0)" })
  }

  @Test func followingReaderLosesAndRepeatsNothingAcrossRotationDeathAndRestart() throws {
    let stop = try StopSignal()
    let reader = try LogReader(world.group, isFollowing: true)
    var lines: [LogRecord] = []
    func follow(until last: String, _ count: Int) throws {
      while lines.count(where: { $0.message.hasPrefix(last) }) < count {
        let new = try reader.all()
        #expect(new.missing == 0)
        lines += new.lines
        if lines.count(where: { $0.message.hasPrefix(last) }) >= count { return }
        guard try reader.wait(stop: stop, until: .after(.seconds(60))) else {
          throw HarnessError("nothing came for a minute after \(lines.count) lines")
        }
      }
    }
    let settings = ["rotateBytes=131072", "quotaBytes=4194304", "wait=1"]
    let dying = try world.worker(
      "write", "count=5000", "close=0", settings[0], settings[1], settings[2], "hold=1")
    try dying.waitForOutput("done")
    try dying.end(with: SIGKILL)
    try follow(until: "line 5000", 1)
    let ending = try world.worker(
      "write", "count=5000", settings[0], settings[1], settings[2])
    try ending.finish().requireEnd()
    try follow(until: "line 5000", 2)
    #expect(
      lines.map(\.message)
        == Array(repeating: (1...5000).map { "line \($0) " }, count: 2)
        .flatMap(\.self))
    #expect(try reader.all().lines.isEmpty)
  }

  @Test func waitEndsAtDeadlineAndOnStop() throws {
    let stop = try StopSignal()
    let reader = try LogReader(world.group, isFollowing: true)
    #expect(try !reader.wait(stop: stop, until: .after(.milliseconds(1))))
    stop.raise()
    #expect(try !reader.wait(stop: stop))
  }

  @Test func linesOfManyConcurrentProcessesAreAllRead() throws {
    let workers = try (0..<64).map { number in
      try world.worker("write", "count=100", "pad=\(number)", "segmentBytes=262144")
    }
    for worker in workers { try worker.finish().requireEnd() }
    let (lines, missing) = try world.read()
    #expect(missing == 0)
    #expect(lines.count == 6400)
    #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.monotonicNs <= $1.monotonicNs })
    for worker in workers {
      let own = lines.filter { $0.run.pid == UInt32(worker.processID) }
      #expect(own.map(\.sequence) == Array(1...100))
    }
  }

  @Test func filterAcceptsLinesThatMeetAllConditions() throws {
    let log = try world.log()
    log.append(.debug, "one red", label: "a", metadata: [LogField("k", "1")])
    log.append(.error, "two red", label: "b", metadata: [LogField("k", "2")])
    log.append(.info, "three blue", label: "a", metadata: [LogField("k", "2")])
    let lines = try world.read().lines
    func accepted(_ change: (inout LogFilter) -> Void) -> [String] {
      var filter = LogFilter()
      change(&filter)
      return lines.filter(filter.accepts).map { String($0.message.prefix { $0 != " " }) }
    }
    #expect(accepted { _ in } == ["one", "two", "three"])
    #expect(accepted { $0.minimumLevel = .info } == ["two", "three"])
    #expect(accepted { $0.text = "red" } == ["one", "two"])
    #expect(accepted { $0.labels = ["a"] } == ["one", "three"])
    #expect(accepted { $0.metadata = ["k": "2"] } == ["two", "three"])
    #expect(accepted { $0.roles = [.capture] } == [])
    #expect(accepted { $0.roles = [.host, .capture] } == ["one", "two", "three"])
    #expect(accepted { $0.sinceNs = lines[1].wallNs } == ["two", "three"])
    #expect(
      accepted {
        $0.text = "red"
        $0.metadata = ["k": "2"]
      } == ["two"])
  }
}
