import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// `framebus top` and `framebus streams` as a user runs them.
@Suite struct TopTests {
  private struct Top: Decodable {
    struct Stream: Decodable {
      let name: String
      let state: String
      let publisher: Publisher
      let fps: Double
      let bytes_per_second: Double
      let subscribers: [Subscriber]
    }
    struct Publisher: Decodable { let pid: Int32 }
    struct Subscriber: Decodable {
      let id: Int
      let pid: Int32
      let policy: String?
      let fps: Double
      let lag: UInt64
      let p50_ns: UInt64?
      let p99_ns: UInt64?
      let dropsByReason: [String: UInt64]
    }
    let seconds: Double
    let streams: [Stream]
  }

  private func polls(_ studio: Studio, _ arguments: String...) throws -> [Top] {
    let program = try studio.start(["top", "--json", "--interval", "0.3"] + arguments)
    let result = try program.finish()
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
    return try result.output.split(separator: "\n").map {
      try JSONDecoder().decode(Top.self, from: Data($0.utf8))
    }
  }

  @Test func ratesAndLatencyOfEachSubscriberAreShown() throws {
    let studio = try Studio()
    let worker = try studio.worker("intervalUs=2000")
    let fast = try subscriber(studio, "policy=latest")
    let slow = try subscriber(studio, "policy=keep:2", "delayUs=20000")
    let poll = try #require(try polls(studio, "--count", "2").last)
    #expect(poll.seconds >= 0.3)
    let stream = try #require(poll.streams.first)
    #expect(stream.name == "screen")
    #expect(stream.state == "live")
    #expect(stream.publisher.pid == worker.processID)
    #expect(stream.fps > 1)
    // A rate multiplied by the size of a frame, both rounded.
    #expect(abs(stream.bytes_per_second - stream.fps * 320 * 200 * 4) < 320 * 200 * 4)
    #expect(stream.subscribers.map(\.pid) == [fast.processID, slow.processID])
    #expect(stream.subscribers.map(\.policy) == ["latest", "keepLatest"])
    for subscriber in stream.subscribers {
      let (p50, p99) = try (#require(subscriber.p50_ns), #require(subscriber.p99_ns))
      #expect(p50 > 0 && p50 <= p99)
    }
    #expect(stream.subscribers[1].fps < stream.fps)
    #expect(stream.subscribers[1].dropsByReason.values.reduce(0, +) > 0)
    withExtendedLifetime((fast, slow)) {}
  }

  @Test func noStreamsIsNotAnError() throws {
    let studio = try Studio()
    #expect(try polls(studio, "--count", "1").map(\.streams.count) == [0])
    let result = try studio.start(["top", "--count", "1", "--interval", "0.1"]).finish()
    #expect(result.output == "no stream; start one, as with `framebus capture screen`\n\n")
    #expect(result.errors == "")
  }

  @Test func streamsComeAndGoAndStoppedPublishersAreMarked() throws {
    let studio = try Studio()
    let top = try studio.start(["top", "--interval", "0.1"])
    try top.waitForOutput("no stream")
    let worker = try studio.worker()
    try top.waitForOutput("screen  live  XR24 320×200")
    worker.process.send(signal: SIGSTOP)
    try top.waitForOutput(
      "screen  not answering: its publisher, pid \(worker.processID), is stopped or very busy")
    let streams = try studio.run("streams", "--json").output.text
    #expect(streams.contains("\"state\" : \"silent\""))
    #expect(streams.contains("\"pid\" : \(worker.processID)"))
    let seen = top.output.text.components(separatedBy: "live").count
    worker.process.send(signal: SIGCONT)
    try waitUntil("it is live again") {
      top.output.text.components(separatedBy: "live").count > seen
    }
    try worker.end(with: SIGKILL)
    let gone = top.output.text.components(separatedBy: "no stream").count
    try waitUntil("it has gone") {
      top.output.text.components(separatedBy: "no stream").count > gone
    }
    #expect(try top.end(with: SIGINT).status == .exited(130))
  }

  @Test func terminalIsRedrawnWithinItsWidthAndWithoutColourOnRequest() throws {
    let studio = try Studio()
    let worker = try studio.worker(stream: "screen")
    let framebus = try pathOfProgram("framebus")
    func drawn(noColour: String?) throws -> String {
      let environment: [String: String?] = [
        "FRAMEBUS_HOME": studio.root.path, "TERM": "xterm", "NO_COLOR": noColour,
      ]
      let terminal = try RunningProgram(
        "script",
        ["-qec", "stty cols 24 rows 5; \(framebus) top --count 2 --interval 0.1", "/dev/null"],
        environment: environment)
      return try terminal.finish().output
    }
    let plain = try drawn(noColour: "1")
    let coloured = try drawn(noColour: nil)
    worker.process.end()
    #expect(coloured.contains("\u{1b}[1mscreen"))
    #expect(plain.components(separatedBy: "\u{1b}[H").count == 3)
    #expect(!plain.contains("\u{1b}[1m"))
    let lines = plain.replacing("\u{1b}[H", with: "").replacing("\u{1b}[K", with: "")
      .replacing("\u{1b}[J", with: "").split(whereSeparator: \.isNewline)
    #expect(lines.contains("screen  live  XR24 320×2"))
    #expect(lines.allSatisfy { $0.count <= 24 }, "\(lines)")
  }

  @Test func oneStreamCanBeShownAlone() throws {
    let studio = try Studio()
    let workers = try ["one", "two"].map { try studio.worker(stream: $0) }
    #expect(try polls(studio, "two", "--count", "1").last?.streams.map(\.name) == ["two"])
    #expect(try polls(studio, "--count", "1").last?.streams.map(\.name) == ["one", "two"])
    for worker in workers { worker.process.end() }
  }

  @Test(arguments: [[], ["--json"]])
  func unknownStreamIsAnError(arguments: [String]) throws {
    let studio = try Studio()
    let result = try studio.start(["top", "nosuch", "--count", "1"] + arguments).finish()
    #expect(result.status == .exited(1))
    #expect(result.output == "")
    #expect(
      result.errors
        == "error: there is no stream “nosuch”; start its publisher, or see `framebus streams`\n")
    withExtendedLifetime(studio) {}
  }

  @Test(arguments: [["--interval", "0"], ["--count", "0"], ["No Name"]])
  func wrongUsageHasStatus2(arguments: [String]) throws {
    #expect(try Studio().start(["top"] + arguments).finish().status == .exited(2))
  }

  private func subscriber(_ studio: Studio, _ settings: String...) throws -> RunningProgram {
    let program = try RunningProgram(
      "BusWorker",
      ["subscribe", studio.root.path, studio.group.id.description, "screen"] + settings)
    try program.waitForOutput("received")
    return program
  }
}
