#if Media
  import Foundation
  import Platform
  import Synchronization
  import TestSupport
  import Testing
  import WHIP

  @testable import LivePage

  /// `framebus view whep:URL` between a page's requests, made by curl, and another server.
  @Suite struct RelayTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// A server of Tests/Tools that gives the answer that the path names.
    private final class OddServer {
      let program: RunningProgram
      let port: String

      init() throws {
        program = try RunningProgram("/usr/bin/python3", [tool("odd_web_server.py")])
        try program.waitForOutput("\n")
        port = String(program.output.text.split { $0 == " " || $0 == "\n" }[1])
      }

      func address(_ path: String) -> String { "whep:http://127.0.0.1:\(port)/\(path)" }

      /// The requests so far, such as `POST /good bearer=no`.
      var requests: [String] {
        program.output.text.split(separator: "\n").dropFirst().map(String.init)
      }
    }

    private func post(
      _ view: ViewProgram, _ path: String
    ) throws -> (status: String, answer: String) {
      try view.ask(
        path, "-i", "-H", "Content-Type: application/sdp", "--data-binary", ViewTests.offer("H264"))
    }

    @Test func failuresAreReportedInWords() throws {
      let server = try OddServer()
      let other = try OddServer()
      let closed = try OwnPort()
      let cases = [
        (server.address("status/401"), "502", "--credential"),
        (server.address("status/404"), "502", "publisher is running"),
        (server.address("status/405"), "502", "not a WHEP endpoint"),
        (server.address("refusing"), "502", "neither pictures nor sound"),
        (server.address("html"), "502", "text/html"),
        // The endpoint chooses neither another server nor another program of this machine.
        (server.address("away/\(other.port)"), "502", "not an address of the same server"),
        (server.address("plain"), "502", "not an address of the same server"),
        ("whep:http://127.0.0.1:\(closed.number)/whep", "504", "check that the server is running"),
      ]
      let view = try ViewProgram(root, cases.map(\.0))
      for (number, (address, status, words)) in cases.enumerated() {
        let result = try post(view, "remote/\(number)")
        #expect(result.status == status && result.answer.contains(words), "\(address): \(result)")
        #expect(!result.answer.contains("\u{1b}"))
      }
      #expect(other.requests.isEmpty)
      for path in ["remote/8", "remote/-1", "remote/x", "remote/", "whep"] {
        #expect(try post(view, path).status == "404", "\(path)")
      }
      let foreign = try view.ask("remote/0", "-H", "Origin: http://evil.example", "-d", "")
      #expect(foreign.status == "403")
      let untyped = try view.ask("remote/0", "-H", "Content-Type: text/plain", "-d", "v=0")
      #expect(untyped.status == "415")
      #expect(!server.requests.contains { $0.contains("bearer=yes") })
      try view.program.end(with: SIGTERM)
      _ = try server.program.end(with: SIGTERM)
      _ = try other.program.end(with: SIGTERM)
    }

    @Test func tokenReachesTheNamedServerAlone() throws {
      let token = "s3cret-of-the-endpoint"
      try root.seal(token, "whep", "viewer")
      let server = try OddServer()
      let view = try ViewProgram(root, [server.address("good"), "--credential=whep/viewer"])
      let opened = try post(view, "remote/0")
      #expect(opened.status == "201" && opened.answer.contains("m=video 9"), "\(opened)")
      let found = try #require(opened.answer.firstMatch(of: /(?i)location: 0\/(\w+)/)?.output.1)
      let session = "remote/0/\(found)"
      let fragment = "a=ice-ufrag:abcd\r\na=ice-pwd:x\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\n"
      let type = "Content-Type: application/trickle-ice-sdpfrag"
      func patch(_ path: String, _ body: String) throws -> String {
        try view.ask(path, "-X", "PATCH", "-H", type, "--data-binary", body).status
      }
      #expect(try patch(session, fragment) == "204")
      #expect(try patch(session, "hello") == "400")
      #expect(try patch("remote/0/other", fragment) == "404")
      #expect(try view.ask(session, "-X", "DELETE").status == "200")
      #expect(try view.ask(session, "-X", "DELETE").status == "404")
      // What is open at the end is removed.
      #expect(try post(view, "remote/0").status == "201")
      #expect(!(try view.ask("").answer.contains(token)))
      for name in ["cmdline", "environ"] {
        let bytes = try Data(
          contentsOf: URL(filePath: "/proc/\(view.program.processID)/\(name)"))
        #expect(bytes.range(of: Data(token.utf8)) == nil)
      }
      let result = try view.program.end(with: SIGTERM)
      #expect(result.status == .exited(0) && !result.errors.contains(token), "\(result.errors)")
      #expect(!(try root.framebus("log", "--level", "trace").finish().output.contains(token)))
      #expect(
        server.requests == [
          "POST /good bearer=yes", "PATCH /session/1 bearer=yes", "DELETE /session/1 bearer=yes",
          "POST /good bearer=yes", "DELETE /session/1 bearer=yes",
        ])
      _ = try server.program.end(with: SIGTERM)
    }

    @Test func viewersAreCountedAndKeepTheirSessions() throws {
      let server = try OddServer()
      let view = try ViewProgram(root, [server.address("good"), "--viewers=1"])
      let opened = try post(view, "remote/0")
      let name = try #require(opened.answer.firstMatch(of: /(?i)location: 0\/(\w+)/)?.output.1)
      let full = try post(view, "remote/0")
      #expect(full.status == "503" && full.answer.contains("--viewers"), "\(full)")
      func patch(_ tag: String, _ user: String = "abcd") throws -> String {
        try view.ask(
          "remote/0/\(name)", "-X", "PATCH", "-H", "If-Match: \(tag)", "-H",
          "Content-Type: application/trickle-ice-sdpfrag", "--data-binary",
          "a=ice-ufrag:\(user)\r\na=ice-pwd:x\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\n"
        ).status
      }
      // As of this server's own viewers (RFC 9725, section 4.3).
      #expect(try patch("\"other\"") == "412")
      #expect(try patch("*", "abc") == "422")
      #expect(try patch("\"\(name)\"") == "204" && patch("*") == "204")
      #expect(try view.ask("remote/0/\(name)", "-I").status == "200")
      #expect(try view.ask("remote/0/\(name)", "-X", "DELETE").status == "200")
      #expect(try view.ask("remote/0/\(name)", "-I").status == "404")
      #expect(try post(view, "remote/0").status == "201")
      try view.program.end(with: SIGTERM)
      let methods = server.requests.map { $0.prefix { $0 != " " } }
      #expect(methods == ["POST", "PATCH", "PATCH", "DELETE", "POST", "DELETE"])
      _ = try server.program.end(with: SIGTERM)
    }

    /// A client that accepts every offer, and answers to DELETE when it may.
    private final class SlowClient: HTTPClient {
      let requests = Mutex<[String]>([])
      let mayRemove: StopSignal

      init() throws { mayRemove = try StopSignal() }

      func send(
        _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
      ) throws(HTTPError) -> HTTPResponse {
        let count = requests.withLock { requests in
          requests.append("\(request.method.rawValue) \(request.address.path)")
          return requests.count
        }
        if request.method == .delete {
          _ = try? waitUntilReadable([mayRemove.descriptorNumber], until: .after(.seconds(60)))
        }
        return HTTPResponse(
          status: 201, headers: [HTTPHeader("Location", "/\(count)")],
          body: Array("v=0\r\nm=video 9 RTP/AVP 96\r\na=sendonly\r\n".utf8))
      }
    }

    @Test func silentViewerLeavesItsPlaceToAnother() throws {
      try withWatchdog {
        let client = try SlowClient()
        func remote(longestSilence: Duration) throws -> RemoteEndpoint {
          try RemoteEndpoint(
            try WHIPEndpoint("http://127.0.0.1/whep", staysAtOrigin: true), maximumViewers: 2,
            longestSilence: longestSilence, client: { client })
        }
        let patient = try remote(longestSilence: .seconds(3600))
        for isAdmitted in [true, true, false] {
          #expect(try (patient.open("v=0") != nil) == isAdmitted)
        }
        client.requests.withLock { $0 = [] }
        let remote = try remote(longestSilence: .zero)
        let names = try (0..<3).map { _ in try #require(try remote.open("v=0")).name }
        #expect(remote.hear(names[1]) && !remote.hear(names[0]))
        // The viewer did not wait for the endpoint's answer to this.
        try waitUntil("the session is removed") {
          client.requests.withLock { $0.contains("DELETE /1") }
        }
        // The third has been silent for longest now.
        _ = try #require(try remote.open("v=0"))
        #expect(remote.hear(names[1]) && !remote.hear(names[2]))
        client.mayRemove.raise()
        remote.end(until: .after(.seconds(60)))
        let removed = client.requests.withLock { $0.filter { $0.hasPrefix("DELETE") } }
        let opened = client.requests.withLock { $0.filter { $0.hasPrefix("POST") } }
        #expect(Set(removed).count == 4 && removed.count == 4 && opened.count == 4)
      }
    }

    @Test(
      arguments: [
        ["whep:"], ["whep:ftp://h/x"], ["whep:http://example.com/whep"],
        ["whep:https://user:word@example.com/"], ["--credential=a/b"], ["screen", "--allow-http"],
        ["whep:https://h/", "whep:https://h/"], ["whep:https://h/", "--credential=nothing"],
        ["whep:https://h/", "whep:https://i/", "--credential=a/b"],
        ["whep:https://h/", "--bearer-fd=3", "--credential=a/b"],
      ])
    func unusableArgumentsAreUsageErrors(arguments: [String]) throws {
      let result = try run(
        "framebus", ["view"] + arguments, environment: ["FRAMEBUS_HOME": root.path])
      #expect(result.status == .exited(2) && result.errors.hasPrefix("error: "), "\(result.errors)")
    }
  }
#endif
