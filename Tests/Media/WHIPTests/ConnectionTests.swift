import Platform
import Synchronization
import TestSupport
import Testing

@testable import WHIP

/// An engine without media: it records its calls, and the test sends its events.
private final class SilentEngine: WebRTCEngine {
  let events = WebRTCEvents()
  private let notes = Mutex<[String]>([])
  let deadlines = Mutex<[Deadline]>([])
  let refusesAnswer = Mutex(false)
  let reported = Mutex<WebRTCReport?>(nil)

  var recorded: [String] { notes.withLock { $0 } }
  private func note(_ text: String) { notes.withLock { $0.append(text) } }

  func makeOffer() -> String { testOffer }
  func add(_ server: ICEServer, until deadline: Deadline, stop: StopSignal) {
    note("server \(server)")
    deadlines.withLock { $0.append(deadline) }
  }
  func useAllAddresses() { note("all addresses") }
  func use(offer: String) {
    note("offer")
    events.append(.candidate(candidate(1)))
    events.append(.gathered)
  }
  func use(answer: String) throws(WHIPError) {
    if refusesAnswer.withLock({ $0 }) { throw .engineFailed("no ICE in media 0") }
    note("answer")
  }
  func report() -> WebRTCReport? { reported.withLock { $0.take() } }
  func set(bitsPerSecond: Int, pace: Int?) { note("bitrate \(bitsPerSecond)") }
}

@Suite struct ConnectionTests {
  private let engine = SilentEngine()

  private func connect(
    _ script: Script, servers: [ICEServer] = [], timeouts: WHIPConnection.Timeouts = .init()
  ) throws -> (WHIPConnection, Seen) {
    let seen = Seen()
    let connection = try WHIPConnection(
      engine, to: WHIPEndpoint("http://127.0.0.1/whip"), client: script, servers: servers,
      bitrate: BitrateControl(minimum: 100_000, maximum: 1_000_000), timeouts: timeouts,
      onEvent: { seen.append($0) })
    return (connection, seen)
  }

  @Test func candidatesFollowOfferOnceServersAreKnown() throws {
    let link = #"<stun:127.0.0.1:5>; rel="ice-server""#
    let script = Script(.created(links: [link]), .status(204), .status(204), .status(200))
    let (connection, seen) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    engine.events.append(.connected)
    try waitUntil("it is connected") { connection.state == .connected }
    connection.end()
    #expect(engine.recorded == ["server stun:127.0.0.1:5", "all addresses", "offer", "answer"])
    #expect(script.requests.first?.method == .post && script.requests.last?.method == .delete)
    #expect(connection.state == .ended(.stopped) && connection.hasConnected)
    #expect(seen.all.last == .ended(.stopped))
  }

  @Test func lostConnectionIsRemovedAtEndpoint() throws {
    let script = Script(.created(), .status(204), .status(200))
    let (connection, _) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    engine.events.append(.connected)
    engine.events.append(.failed)
    try waitUntil("it ended") { script.requests.count >= 3 }
    connection.end()
    let address = try #require(WebAddress("http://127.0.0.1/whip"))
    #expect(connection.state == .ended(.connectionLost(address)))
    #expect(script.requests.last?.method == .delete)
  }

  @Test(arguments: [[], [WebRTCEvent.disconnected]])
  func silentPeerTimesOut(word: [WebRTCEvent]) throws {
    var timeouts = WHIPConnection.Timeouts()
    (timeouts.silence, timeouts.usualSilence) = (.milliseconds(50), .milliseconds(50))
    let script = Script(.created(), .status(204), .status(200))
    let (connection, _) = try connect(script, timeouts: timeouts)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    for event in [.connected] + word { engine.events.append(event) }
    try waitUntil("it ended") { script.requests.count >= 3 }
    connection.end()
    let address = try #require(WebAddress("http://127.0.0.1/whip"))
    #expect(connection.state == .ended(.connectionLost(address)))
    #expect(script.requests.last?.method == .delete)
  }

  @Test func peerWithoutReportsTimesOut() throws {
    var timeouts = WHIPConnection.Timeouts()
    (timeouts.silence, timeouts.usualSilence) = (.milliseconds(50), .milliseconds(50))
    let script = Script(.created(), .status(204), .status(200))
    let (connection, _) = try connect(script, timeouts: timeouts)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    engine.reported.withLock {
      $0 = WebRTCReport(packetsExpected: 100, packetsLost: 0)
    }
    engine.events.append(.connected)
    try waitUntil("it ended") { script.requests.count >= 3 }
    connection.end()
    let address = try #require(WebAddress("http://127.0.0.1/whip"))
    #expect(connection.state == .ended(.connectionLost(address)))
  }

  /// Some peers report ten times a second, others every few seconds.
  @Test func peerIsLostAfterTwiceItsIntervalAtTheEarliest() {
    var timeouts = WHIPConnection.Timeouts()
    timeouts.silence = .seconds(1)
    var interval = ReportInterval()
    #expect(interval.silence(timeouts) == .seconds(10))
    interval.note(5_000_000_000)
    #expect(interval.silence(timeouts) == .seconds(10))
    interval.note(5_100_000_000)
    #expect(interval.silence(timeouts) == .seconds(1))
    interval.note(8_100_000_000)
    interval.note(8_200_000_000)
    #expect(interval.silence(timeouts) == .seconds(6))
    interval.note(98_200_000_000)
    #expect(interval.silence(timeouts) == .seconds(10))
    timeouts.silence = .seconds(60)
    #expect(interval.silence(timeouts) == .seconds(60))
  }

  @Test func peerThatReportsSlowlyStaysConnected() throws {
    var timeouts = WHIPConnection.Timeouts()
    timeouts.silence = .milliseconds(1)
    let script = Script(.created(), .status(204), .status(200))
    let (connection, _) = try connect(script, timeouts: timeouts)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    engine.events.append(.connected)
    for round in 1...3 {
      engine.reported.withLock { $0 = WebRTCReport() }
      try waitUntil("report \(round)") { engine.reported.withLock { $0 == nil } }
    }
    #expect(connection.state == .connected)
    try waitUntil("it ended") { script.requests.count >= 3 }
    connection.end()
  }

  @Test(arguments: [true, false])
  func refusedCandidatesEndOnlyAnUnconnectedAttempt(comesAbout: Bool) throws {
    var timeouts = WHIPConnection.Timeouts()
    timeouts.refused = comesAbout ? .seconds(60) : .milliseconds(50)
    let script = Script(.created(), .status(409), .status(200))
    let (connection, seen) = try connect(script, timeouts: timeouts)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    if comesAbout {
      engine.events.append(.connected)
      try waitUntil("it is connected") { connection.state == .connected }
      // An endpoint that refuses candidates gets no further ones.
      engine.events.append(.candidate(candidate(2)))
      engine.events.append(.failed)
    }
    try waitUntil("it ended") { script.requests.count >= 3 }
    connection.end()
    #expect(script.requests.map(\.method) == [.post, .patch, .delete])
    #expect(connection.hasConnected == comesAbout)
    guard case .ended(let error) = seen.all.last else { throw HarnessError("\(seen.all)") }
    #expect("\(error)".contains(comesAbout ? "is lost" : "status 409"), "\(error)")
  }

  @Test func candidatesRefusedWhileConnectedAreOnlyReported() throws {
    let script = Script(.created(), .status(204), .status(404), .status(200))
    let (connection, seen) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    engine.events.append(.connected)
    try waitUntil("it is connected") { connection.state == .connected }
    engine.events.append(.candidate(candidate(2)))
    try waitUntil("it is told") {
      seen.all.contains { if case .candidatesRefused = $0 { true } else { false } }
    }
    #expect(connection.state == .connected)
    connection.end()
    #expect(connection.state == .ended(.stopped))
  }

  @Test func removalIsRetriedAtBusyEndpoint() throws {
    let script = Script(.created(), .status(204), .status(503), .status(200))
    let (connection, seen) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    connection.end()
    #expect(script.requests.suffix(2).map(\.method) == [.delete, .delete])
    #expect(!seen.all.contains { if case .notRemoved = $0 { true } else { false } })
  }

  @Test func attemptWithoutConnectionTimesOut() throws {
    var timeouts = WHIPConnection.Timeouts()
    timeouts.connecting = .milliseconds(300)
    let script = Script(.created(), .status(204), .status(200))
    let (connection, _) = try connect(script, timeouts: timeouts)
    engine.events.append(.ready)
    try waitUntil("it ended") { connection.state != .connecting }
    connection.end()
    guard case .ended(.noConnection) = connection.state else {
      Issue.record("it ended as \(connection.state)")
      return
    }
    #expect(script.requests.last?.method == .delete)
  }

  /// The error does not mention the timeout.
  @Test func immediateFailureIsNotReportedAsTimeout() throws {
    let named = "a=candidate:1 1 udp 1 198.51.100.7 9 typ host\r\n"
    let script = Script(.created(media: named), .status(204), .status(200))
    let (connection, _) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    engine.events.append(.failed)
    try waitUntil("it ended") { connection.state != .connecting }
    connection.end()
    let address = try #require(WebAddress("http://127.0.0.1/whip"))
    guard case .ended(.connectionFailed(address, let tried)) = connection.state else {
      throw HarnessError("it ended as \(connection.state)")
    }
    #expect(tried.local == ["192.0.2.1"] && tried.remote == ["198.51.100.7"], "\(tried)")
    #expect(!"\(connection.state)".contains("20 s"))
  }

  @Test func answerRefusedByEngineIsReportedAsUnusable() throws {
    engine.refusesAnswer.withLock { $0 = true }
    let script = Script(.created(), .status(200))
    let (connection, _) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("it ended") { connection.state != .connecting }
    connection.end()
    let address = try #require(WebAddress("http://127.0.0.1/whip"))
    #expect(
      connection.state == .ended(.unusableAnswer(address, reason: "no ICE in media 0")))
    #expect(script.requests.last?.method == .delete)
  }

  /// Otherwise the delays of slow servers would add up.
  @Test func recommendedServersShareOneDeadline() throws {
    let link = Array(repeating: #"<turns:127.0.0.1:5>; rel="ice-server""#, count: 16)
    let script = Script(.created(links: link), .status(204), .status(200))
    let (connection, _) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    connection.end()
    let deadlines = engine.deadlines.withLock { $0.map(\.monotonicNs) }
    #expect(deadlines.count == 16 && Set(deadlines).count == 1)
  }

  @Test func receiverReportsChangeBitrate() throws {
    let script = Script(.created(), .status(204), .status(200))
    let (connection, _) = try connect(script)
    engine.events.append(.ready)
    try waitUntil("the candidate is sent") { script.requests.count >= 2 }
    engine.reported.withLock {
      $0 = WebRTCReport(packetsExpected: 100, packetsLost: 40)
    }
    engine.events.append(.connected)
    try waitUntil("the encoder was told") { engine.recorded.contains("bitrate 800000") }
    connection.end()
  }
}

/// The events of a connection, from its thread.
private final class Seen: Sendable {
  private let events = Mutex<[WHIPConnection.Event]>([])
  func append(_ event: WHIPConnection.Event) { events.withLock { $0.append(event) } }
  var all: [WHIPConnection.Event] { events.withLock { $0 } }
}
