import Platform
import Testing

@testable import WHIP

/// The state machine of a session, against scripted answers.
@Suite struct SessionTests {
  private func session(
    _ script: Script, _ address: String = "https://live.example.com/whip"
  ) throws -> WHIPSession {
    WHIPSession(try WHIPEndpoint(address, bearer: bearer("s3cret")), client: script)
  }

  private func open(_ session: WHIPSession) throws -> WHIPAnswer {
    try session.open(offering: testOffer, until: .never, stop: nil)
  }

  @Test func earlyCandidatesAreSentTogetherOnceResourceIsKnown() throws {
    let script = Script(.created(), .status(204), .status(204), .status(200))
    let session = try session(script)
    session.add(candidate(1))
    session.add(candidate(2))
    try session.sendCandidates(until: .never, stop: nil)
    #expect(script.requests.isEmpty)
    _ = try open(session)
    try session.sendCandidates(until: .never, stop: nil)
    try session.sendCandidates(until: .never, stop: nil)
    session.endCandidates()
    try session.sendCandidates(until: .never, stop: nil)
    try session.sendCandidates(until: .never, stop: nil)
    try session.remove(until: .never)
    try session.remove(until: .never)
    let requests = script.requests
    #expect(requests.map(\.method) == [.post, .patch, .patch, .delete])
    #expect(requests[1].body.contains("candidate:1") && requests[1].body.contains("candidate:2"))
    #expect(!requests[1].body.contains("end-of-candidates"))
    #expect(requests[2].body.contains("end-of-candidates"))
    #expect(requests[1].headers.contains(HTTPHeader("If-Match", "\"1\"")))
    #expect(
      requests[1].headers.contains(
        HTTPHeader("Content-Type", "application/trickle-ice-sdpfrag")))
    #expect(requests.allSatisfy { $0.bearer != nil })
    #expect(requests[3].address.text == "https://live.example.com/session/1")
  }

  @Test(arguments: [405, 415, 422, 501])
  func endpointWithoutTrickleGetsOnePatch(status: Int) throws {
    let script = Script(.created(), .status(status))
    let session = try session(script)
    _ = try open(session)
    session.add(candidate(1))
    try session.sendCandidates(until: .never, stop: nil)
    session.add(candidate(2))
    try session.sendCandidates(until: .never, stop: nil)
    #expect(!session.takesCandidates && script.requests.count == 2)
  }

  @Test func newEntityTagReplacesOldOne() throws {
    let script = Script(
      .created(tag: "\"a\""), .status(204, HTTPHeader("ETag", "\"b\"")), .status(204))
    let session = try session(script)
    _ = try open(session)
    for number in 1...2 {
      session.add(candidate(number))
      try session.sendCandidates(until: .never, stop: nil)
    }
    #expect(script.requests[2].headers.contains(HTTPHeader("If-Match", "\"b\"")))
  }

  @Test(arguments: [307, 308])
  func redirectCarriesOfferButBearerOnlyToSameOrigin(status: Int) throws {
    let script = Script(
      .status(status, HTTPHeader("Location", "/other")),
      .status(status, HTTPHeader("Location", "https://cdn.example.net/whip")),
      .created(at: "session/7"), .status(204), .status(200))
    let session = try session(script)
    _ = try open(session)
    session.add(candidate(1))
    try session.sendCandidates(until: .never, stop: nil)
    try session.remove(until: .never)
    let requests = script.requests
    #expect(requests.prefix(3).allSatisfy { $0.method == .post && $0.body == testOffer })
    #expect(requests.map { $0.bearer != nil } == [true, true, false, false, false])
    #expect(requests[4].address.text == "https://cdn.example.net/session/7")
  }

  @Test func anotherPortOrSchemeIsAnotherOrigin() throws {
    let script = Script(
      .status(307, HTTPHeader("Location", "https://live.example.com:8443/whip")), .created())
    _ = try open(try session(script))
    #expect(script.requests.map { $0.bearer != nil } == [true, false])
  }

  @Test func redirectToPlainHTTPIsRefused() throws {
    let script = Script(.status(307, HTTPHeader("Location", "http://127.0.0.1/whip")))
    let session = try session(script)
    #expect(throws: WHIPError.insecure(try #require(WebAddress("http://127.0.0.1/whip")))) {
      try open(session)
    }
    #expect(script.requests.count == 1)
  }

  @Test func sessionOfUnusableAnswerIsRemoved() throws {
    var answer = HTTPResponse.created()
    answer.body = Array("<html>".utf8)
    let script = Script(answer, .status(200))
    let session = try session(script)
    #expect(throws: WHIPError.self) { try open(session) }
    #expect(session.isOpen)
    try session.remove(until: .never)
    #expect(script.requests.map(\.method) == [.post, .delete])
  }

  @Test(arguments: ["m=video 0 UDP/TLS/RTP/SAVPF 96", "a=sendonly", "a=inactive"])
  func answerWithoutAcceptedMediaIsRefused(line: String) throws {
    var answer = HTTPResponse.created()
    let head = line.hasPrefix("m=") ? Array("v=0\r\n".utf8) : answer.body
    answer.body = head + Array("\(line)\r\n".utf8)
    let endpoint = try WHIPEndpoint("https://live.example.com/whip")
    #expect(throws: WHIPError.nothingAccepted(endpoint.address)) {
      try open(try session(Script(answer)))
    }
  }

  @Test(
    arguments: [
      (["m=video 9", "a=recvonly", "m=audio 9", "a=recvonly"], []),
      (["m=video 9", "a=recvonly", "m=audio 9", "a=inactive"], [.audio]),
      (["m=video 9", "a=sendonly", "m=audio 9", "a=recvonly"], [.video]),
      (["m=video 0", "m=audio 9", "a=recvonly"], [.video]), (["m=video 9"], [.audio]),
    ] as [([String], [MediaKind])])
  func refusedMediaOfAnswerAreReported(lines: [String], refused: [MediaKind]) throws {
    var answer = HTTPResponse.created()
    answer.body = Array((["v=0"] + lines).map { $0 + "\r\n" }.joined().utf8)
    let offer = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
    let session = try session(Script(answer))
    #expect(try session.open(offering: offer, until: .never, stop: nil).refused == refused)
  }

  @Test func answerIsReducedToReceiveOnly() throws {
    var answer = HTTPResponse.created()
    answer.body += Array("a=sendrecv\r\n".utf8)
    let lines = try open(try session(Script(answer))).sdp.split(separator: "\r\n")
    #expect(lines.contains("a=recvonly") && !lines.contains("a=sendrecv"))
  }

  @Test(arguments: [404, 410])
  func removalOfMissingSessionSucceeds(status: Int) throws {
    let session = try session(Script(.created(), .status(status)))
    _ = try open(session)
    try session.remove(until: .never)
  }

  @Test func serversOfAnswerAreReturned() throws {
    let link = #"<turn:t.example.net>; rel="ice-server"; username="u"; credential="p""#
    let answer = try open(try session(Script(.created(links: [link]))))
    #expect(answer.servers.map(\.locator) == ["turn://u:p@t.example.net:3478"])
  }

  @Test(arguments: ["a b", "a\nX: y", "a\r", "\u{e9}", "a\0"])
  func bearerThatWouldForgeAHeaderIsRefused(text: String) {
    #expect(throws: WHIPError.malformedBearer) { _ = try bearer(text) }
  }

  /// 1994-11-06 08:49:37 is 784,111,777 seconds after 1970 (RFC 9110, section 5.6.7).
  @Test(
    arguments: [
      ("0", 0), ("120", 120), ("120 ", 120), ("99999999999999999999", 86_400),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sunday, 06-Nov-94 08:49:37 GMT", 37),
      ("Sun Nov  6 08:49:37 1994", 37), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
      ("Thu, 29 Feb 2096 00:00:00 GMT", 86_400), ("", nil), ("soon", nil), ("-1", nil),
      ("1.5", nil), ("Sun, 06 Nov 1994", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
      ("Sun, 40 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
      ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("a b c d e", nil), ("\u{661}", nil),
    ] as [(String, Int?)])
  func retryAfterIsReadInEveryForm(text: String, seconds: Int?) {
    let wait = RetryAfter.wait(text, nowSeconds: 784_111_740)
    #expect(wait == seconds.map { .seconds($0) }, "\(text)")
  }

  @Test func datesAreCountedByTheServersClock() {
    let response = HTTPResponse.status(
      503, HTTPHeader("Retry-After", "Fri, 01 Jan 2038 00:00:07 GMT"),
      HTTPHeader("Date", "Fri, 01 Jan 2038 00:00:00 GMT"))
    #expect(RetryAfter.wait(in: response) == .seconds(7))
  }

  @Test func emptyBearerMeansNoToken() throws { #expect(try bearer("") == nil) }
}
