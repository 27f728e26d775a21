#if Media
  import Platform
  import TestSupport
  import Testing

  @testable import WHIP

  /// libcurl and the session against a real server that gives wrong answers.
  @Suite struct OddServerTests {
    private let server: WebServer

    init() throws { server = try WebServer("odd_web_server.py") }

    /// The error of opening a session at a path.
    private func failure(
      _ path: String, bearer: BearerToken? = nil, within timeout: Duration = .seconds(30),
      stop: StopSignal? = nil
    ) throws -> String {
      let session = WHIPSession(
        try WHIPEndpoint(server.address(path), bearer: bearer), client: try CurlClient())
      do {
        _ = try session.open(offering: testOffer, until: .after(timeout), stop: stop)
      } catch {
        try session.remove(until: .after(.seconds(30)))
        return "\(error)"
      }
      return "nothing"
    }

    @Test(
      arguments: [
        ("status/400", "status 400", "server's own log"),
        ("status/401", "status 401", "--credential"),
        ("status/403", "status 403", "may not publish"),
        ("status/404", "status 404", "URL's path"),
        ("status/405", "status 405", "not a WHIP endpoint"),
        ("status/406", "status 406", "--encoder"),
        ("status/415", "status 415", "not a WHIP endpoint"),
        ("status/500", "status 500", "see its own log"), ("status/503", "status 503", "try again"),
        ("status/200", "status 200", "server's own log"),
        ("empty", "without a session description", "server's own log"),
        ("html", "text/html", "“<html>hello</html>”"), ("untyped", "“<html>hello</html>”", "URL"),
        ("nowhere", "without a Location", "RFC 9725"),
        ("elsewhere", "“ftp://example.com/1”", "log"),
        ("plain", "“http://192.0.2.1/1”", "log"), ("refusing", "none of the streams", "--encoder"),
        ("loop", "more than 5 times", "configuration"), ("moved", "status 302", "307"),
        ("huge", "larger than that of a WHIP", "URL"), ("headers", "larger than that", "URL"),
        ("longheader", "a header line that is too long", "URL"),
        ("short", "failed (", "port"), ("malformed", "failed (", "port"),
        ("redirect/307/status/403", "status 403", "/status/403"),
        ("redirect/308/redirect/307/empty", "without a session", "log"),
      ])
    func wrongAnswerIsReportedWithAdvice(path: String, what: String, advice: String) throws {
      let said = try failure(path)
      #expect(said.contains(what) && said.contains(advice), "\(path): \(said)")
      #expect(!said.contains("\u{1b}") && !said.contains("\n"), "\(said)")
    }

    @Test func serverTextIsQuotedOnOneLine() throws {
      let said = try failure("status/403")
      #expect(said.contains(#"“status 403\u{1b}[31m said the server”"#), "\(said)")
    }

    @Test func unresponsiveServerTimesOut() throws {
      for path in ["slow", "trickling"] {
        let said = try failure(path, within: .milliseconds(700))
        #expect(said.contains("no answer in time"), "\(path): \(said)")
      }
    }

    @Test func signalEndsRequest() throws {
      let stop = try StopSignal()
      try startThread(named: "stopper") { [server] in
        try? waitUntil("the request arrived") { !server.lines("POST /slow").isEmpty }
        stop.raise()
      }
      let said = try withWatchdog { try failure("slow", within: .seconds(300), stop: stop) }
      #expect(said.contains("stopped"), "\(said)")
    }

    @Test func closedPortAndUnknownNameHaveDistinctErrors() throws {
      let closed = server.address("x")
      try server.program.end(with: 9)
      let client = try CurlClient()
      for (address, what) in [
        (closed, "cannot connect"), ("https://no.invalid/", "cannot be resolved"),
      ] {
        let session = WHIPSession(try WHIPEndpoint(address), client: client)
        do {
          _ = try session.open(offering: testOffer, until: .after(.seconds(60)), stop: nil)
          Issue.record("\(address) answered")
        } catch {
          #expect("\(error)".contains(what), "\(error)")
        }
      }
    }

    @Test func bearerIsSentOnlyToItsOriginAndNeverShown() throws {
      let other = try WebServer("odd_web_server.py")
      #expect(try failure("away/\(other.port)", bearer: bearer("s3cret-token")) == "nothing")
      try waitUntil("both servers logged it") {
        !server.lines("POST").isEmpty && !other.lines("POST").isEmpty
      }
      #expect(server.lines("POST") == ["POST /away/\(other.port) bearer=yes"])
      #expect(other.lines("POST") == ["POST /good bearer=no"])
      let said = try failure("echo", bearer: bearer("s3cret-token"))
      #expect(said.contains("“no: Bearer …”") && !said.contains("s3cret"), "\(said)")
      // Types and hosts are shown in lower case.
      let type = try failure("echo-type", bearer: bearer("S3cret-Token"))
      #expect(type.contains("but with text/…") && !type.contains("s3cret"), "\(type)")
      let host = try failure("echo-host", bearer: bearer("S3cret-Token"))
      #expect(host.contains("/echo-host: ") && !host.contains("s3cret"), "\(host)")
    }

    @Test func certificateMustBeTrustedAndMatchHost() throws {
      let root = try TemporaryRoot()
      let good = try TestCertificate(for: "localhost", in: root)
      let other = try TestCertificate(for: "other.example.com", in: root)
      func result(_ served: TestCertificate, trusting trusted: String?) throws -> String {
        let server = try WebServer(
          "odd_web_server.py", [served.certificate, served.key], isEncrypted: true)
        let address = server.address("good", host: "localhost")
        let session = WHIPSession(
          try WHIPEndpoint(address), client: try CurlClient(certificates: trusted))
        do {
          _ = try session.open(offering: testOffer, until: .after(.seconds(60)), stop: nil)
          return "open"
        } catch {
          return "\(error)"
        }
      }
      #expect(try result(good, trusting: good.certificate) == "open")
      #expect(try result(good, trusting: nil).contains("--ca FILE"))
      #expect(try result(other, trusting: other.certificate).contains("--ca FILE"))
      #expect(try result(good, trusting: other.certificate).contains("--ca FILE"))
      #expect(try result(good, trusting: root.file("none")).contains("PEM"))
    }

    @Test func hundredSessionsLeakNoDescriptors() throws {
      let client = try CurlClient()
      func open() throws {
        let session = WHIPSession(try WHIPEndpoint(server.address("good")), client: client)
        _ = try session.open(offering: testOffer, until: .after(.seconds(60)), stop: nil)
        try session.remove(until: .after(.seconds(60)))
      }
      for _ in 0..<100 { try open() }
      try waitUntil("the server told of all of them") { server.lines("DELETE").count == 100 }
      #expect(server.lines("POST").count == 100)
      // One client keeps one connection.
      let sockets = try openSockets(of: server.program.processID)
      #expect(sockets <= 4, "\(sockets) sockets")
    }
  }

  /// The number of sockets of a process, including its listening one.
  private func openSockets(of process: Int32) throws -> Int {
    try output(of: "ls", ["-l", "/proc/\(process)/fd"]).split(separator: "\n")
      .count { $0.contains("socket:") }
  }
#endif
