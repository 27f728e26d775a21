#if Media
  import Platform
  import Testing
  import WHIP

  @testable import LivePage

  /// Access rules and answers, without a server.
  @Suite struct RouteTests {
    private let token = PageToken()

    private func routes(
      _ service: TestViewerService = TestViewerService(), title: String = "screen"
    ) -> PageRoutes {
      PageRoutes(
        token: token, text: PageText([.streams(title: title, hasSound: true)]), service: service,
        figures: { "{}" })
    }

    /// A request that the page itself would make.
    private func request(_ method: String, _ path: String, _ body: String = "") -> PageRequest {
      var request = PageRequest()
      request.method = method
      request.path = "/\(token)/\(path)"
      request.host = "127.0.0.1:8080"
      request.origin = "http://127.0.0.1:8080"
      request.localAddress = "127.0.0.1"
      if method == "POST" { request.contentType = "application/sdp" }
      if method == "PATCH" { request.contentType = "application/trickle-ice-sdpfrag" }
      request.body = body
      return request
    }

    private func header(_ name: String, _ answer: PageAnswer) -> String? {
      answer.headers.first { $0.name == name }?.value
    }

    @Test func offerIsAnsweredWithViewersAddress() {
      let service = TestViewerService()
      let answer = routes(service).answer(request("POST", "whep", "v=0"))
      #expect(answer.status == 201 && answer.body == TestViewerService.answer)
      #expect(header("Location", answer) == "whep/viewer1")
      #expect(header("ETag", answer) == "\"viewer1\"")
      #expect(header("Content-Type", answer) == "application/sdp")
      #expect(service.words == ["offer v=0 at 127.0.0.1"])
    }

    @Test func candidatesAndRemovalReachViewer() {
      let service = TestViewerService()
      let fragment =
        "a=ice-ufrag:abcd\r\na=ice-pwd:x\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\n"
        + "a=candidate:1 1 udp 2113937151 127.0.0.1 4242 typ host\r\n"
        + "a=candidate:2 1 udp 2113937151 4f3c.local 4242 typ host\r\n"
      #expect(routes(service).answer(request("PATCH", "whep/viewer1", fragment)).status == 204)
      #expect(routes(service).answer(request("DELETE", "whep/viewer1")).status == 200)
      // The name is not resolved.
      #expect(service.words == ["candidates [\"0\"]", "remove viewer1"])
    }

    @Test func everythingRequiresTheToken() {
      let routes = routes()
      let wrong = "\(PageToken())"
      for path in [
        "/", "", "//", "/\(wrong)/", "/\(token)0/", "/\(String(token.description.dropLast()))/",
        "/whep", "/\(wrong)/whep", "/figures", "/favicon.ico",
      ] {
        var request = request("GET", "")
        request.path = path
        #expect(routes.answer(request).status == 403, "\(path)")
      }
      #expect(PageToken().description.utf8.count == 32 && token.description != wrong)
    }

    @Test func otherPagesAreRefused() {
      let service = TestViewerService()
      for origin in ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1:8080"]
      {
        var request = request("POST", "whep", "v=0")
        request.origin = origin
        #expect(routes(service).answer(request).status == 403, "\(origin)")
      }
      // A name that another party pointed at this machine (DNS rebinding).
      for host in ["evil.example:8080", "evil.example", "", "localhost.evil.example", "[evil]:80"] {
        var request = request("POST", "whep", "v=0")
        request.host = host
        request.origin = "http://" + host
        #expect(routes(service).answer(request).status == 403, "\(host)")
      }
      #expect(service.words.isEmpty)
      for host in ["localhost:8080", "127.0.0.1", "[::1]:8080", "192.168.1.2:80"] {
        var request = request("GET", "")
        request.host = host
        request.origin = ""
        #expect(routes().answer(request).status == 200, "\(host)")
      }
    }

    @Test(
      arguments: [
        ("PUT", "", 405, "GET, HEAD"), ("POST", "", 405, "GET, HEAD"), ("GET", "whep", 405, "POST"),
        ("HEAD", "whep", 405, "POST"),
        ("OPTIONS", "whep", 405, "POST"), ("GET", "whep/viewer1", 405, "PATCH, DELETE"),
        ("POST", "figures", 405, "GET, HEAD"), ("GET", "figures/now", 404, nil),
        ("GET", "nothing", 404, nil),
        ("GET", "whep/a/b", 404, nil),
        ("DELETE", "whep/viewer2", 404, nil), ("DELETE", "whep/", 404, nil),
        ("PATCH", "whep/viewer2", 404, nil),
      ] as [(String, String, Int, String?)])
    func unknownPathsAndMethodsAreRefused(
      method: String, path: String, status: Int, allowed: String?
    ) {
      let answer = routes().answer(request(method, path))
      #expect(answer.status == status && header("Allow", answer) == allowed)
      #expect(header("Access-Control-Allow-Origin", answer) == nil)
    }

    @Test func onlyWHEPMediaTypesAreAccepted() {
      for (method, path) in [("POST", "whep"), ("PATCH", "whep/viewer1")] {
        for kind in ["", "text/plain", "application/json", "application/sdpx"] {
          var request = request(method, path, "v=0")
          request.contentType = kind
          #expect(routes().answer(request).status == 415, "\(method) \(kind)")
        }
        var request = request(method, path)
        request.contentType = request.contentType.uppercased() + "; charset=utf-8"
        #expect(routes().answer(request).status < 300)
        request.isTooLarge = true
        #expect(routes().answer(request).status == 413)
        request.isTooLarge = false
        request.body = nil
        #expect(routes().answer(request).status == 400)
      }
      var other = request("PATCH", "whep/viewer1")
      other.ifMatch = "\"viewer2\""
      #expect(routes().answer(other).status == 412)
      #expect(routes().answer(request("PATCH", "whep/viewer1", "malformed")).status == 400)
    }

    @Test(
      arguments: [
        (ViewerRefusal.malformed("it is empty"), 400), (.noCommonCodec("H264"), 406),
        (.full(8), 503), (.engineFailed("no webrtcbin"), 500),
      ])
    func viewerServicesRefusalsAreReported(refusal: ViewerRefusal, status: Int) {
      let answer = routes(TestViewerService(refusal: refusal)).answer(
        request("POST", "whep", "v=0"))
      #expect(answer.status == status && answer.body == "\(refusal)\n")
    }

    @Test func excessCandidatesAndOtherSessionsAreRefused() {
      for (outcome, status) in [(CandidateOutcome.tooMany, 429), (.otherSession, 422)] {
        let service = TestViewerService(outcome: outcome)
        #expect(routes(service).answer(request("PATCH", "whep/viewer1")).status == status)
      }
    }

    @Test func policyAllowsOnlyThePagesOwnContent() throws {
      let routes = routes(title: "<b>\"screen\"&")
      let first = routes.answer(request("GET", ""))
      let policy = try #require(header("Content-Security-Policy", first))
      #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-"))
      let nonce = try #require(policy.firstMatch(of: /'nonce-([0-9a-f]{32})'/)?.output.1)
      #expect(first.body.contains("<script nonce=\"\(nonce)\">"))
      #expect(first.body.contains("<style nonce=\"\(nonce)\">"))
      #expect(first.body.contains("&lt;b>&quot;screen&quot;&amp;"))
      #expect(!first.body.contains("{{") && !first.body.contains("://"))
      #expect(header("Referrer-Policy", first) == "no-referrer")
      #expect(header("Cache-Control", first) == "no-store")
      #expect(header("Content-Security-Policy", routes.answer(request("GET", ""))) != policy)
      // The address without its last slash redirects to the page.
      var short = request("GET", "")
      short.path = "/\(token)"
      #expect(header("Location", routes.answer(short)) == "\(token)/")
    }

    @Test func figuresAreCurrent() {
      let answer = routes().answer(request("GET", "figures"))
      #expect(answer.status == 200 && answer.body == "{}")
      #expect(header("Content-Type", answer) == "application/json")
    }
  }
#endif
