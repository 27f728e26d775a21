#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  @testable import LivePage

  /// Which pages may embed the live page, and how it looks there.
  @Suite(.serialized) struct EmbeddingTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test func pageOfANamedOriginShowsPicturesAlone() throws {
      let port = try OwnPort()
      let site = "http://127.0.0.1:\(port.number)"
      let closed = try ViewProgram(root)
      let open = try ViewProgram(root, ["--embed-in=\(site)", "--embed-in=https://example.com"])
      let capture = try root.capture()
      let frames = [closed, open].map { "<iframe src='\($0.url)?controls=0'></iframe>" }.joined()
      try "<video></video>\(frames)".write(
        toFile: root.file("index.html"), atomically: true, encoding: .utf8)
      let server = try RunningProgram(
        "/usr/bin/python3",
        ["-m", "http.server", "--bind", "127.0.0.1", "--directory", root.path, "\(port.number)"])
      try waitUntil("the site answers") { try run("curl", ["-s", site]).status.isSuccess }
      let page = try BrowserPage(site, usedIn: root)
      try waitUntil("the embedded page has a picture") { try open.figures().state == "live" }
      #expect(try closed.figures().viewers == 0 && open.figures().viewers == 1)
      // The same without a frame around it, where a script can look.
      try page.order("location = '\(open.url)?controls=0'")
      try page.waitForMovingPictures()
      let look = """
        [...document.querySelectorAll("h1, .controls, details, header")].map((part) =>
          part.checkVisibility()).join() + " " + document.querySelector("video").muted + " " +
          (document.querySelector("video").clientHeight === innerHeight)
        """
      #expect(try page.order(look) == "\"false,false,false,false true true\"")
      // What is wrong with the picture is shown nevertheless.
      open.program.process.send(signal: SIGSTOP)
      try page.wait(until: "document.querySelector('.state').checkVisibility()")
      open.program.process.send(signal: SIGCONT)
      try page.program.end(with: SIGTERM)
      try server.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      for view in [closed, open] { try view.program.end(with: SIGTERM) }
    }

    @Test func policyNamesOriginsAloneAndTheProxysAddressIsThePages() throws {
      var access = PageAccess()
      #expect(access.framePolicy == "frame-ancestors 'self'")
      #expect(access.frameOptions.map(\.1) == ["SAMEORIGIN"])
      access.embedders = [try #require(WebAddress("https://A.example:443/x"))]
      #expect(access.framePolicy == "frame-ancestors 'self' https://a.example")
      #expect(access.frameOptions.isEmpty)
      access.publicAddress = WebAddress("https://live.example.com:8443/live/")
      func isRefused(_ host: String, _ origin: String) -> Bool {
        var request = PageRequest()
        (request.host, request.origin) = (host, origin)
        do { try access.check(request) } catch { return error.status == 403 }
        return false
      }
      let own = "https://live.example.com:8443"
      #expect(!isRefused("live.example.com:8443", own) && !isRefused("LIVE.example.com:8443", ""))
      #expect(!isRefused("127.0.0.1:1", "http://127.0.0.1:1"))
      for (host, origin) in [
        ("live.example.com", own), ("live.example.com:8443", "http://live.example.com:8443"),
        ("live.example.com:8443", "https://evil.example"), ("evil.example", own),
        ("127.0.0.1:1", own), ("live.example.com:8443", "http://127.0.0.1:1"),
      ] {
        #expect(isRefused(host, origin), "\(host) \(origin)")
      }
    }

    @Test(
      arguments: [
        "--embed-in=*", "--embed-in=https://h/path", "--embed-in=https://h; script-src *",
        "--embed-in='self'", "--public-url=https://h/page", "--public-url=https://h/?a=/",
        "--public-url=h", "--token=a", "--token=nothing/there",
      ])
    func unusableAddressesAreErrors(argument: String) throws {
      let result = try run(
        "framebus", ["view", argument], environment: ["FRAMEBUS_HOME": root.path])
      #expect(!result.status.isSuccess && result.output.isEmpty, "\(result.status)")
      #expect(result.errors.hasPrefix("error: "), "\(result.errors)")
    }

    @Test func tokenOfACredentialFitsInAnAddress() throws {
      for (number, secret) in ["short", "sixteen letters/"].enumerated() {
        try root.seal(secret, "live", "page\(number)")
        let result = try run(
          "framebus", ["view", "--token=live/page\(number)"],
          environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil])
        #expect(result.status == .exited(2) && result.errors.contains("openssl rand"))
        #expect(!result.errors.contains(secret))
      }
    }
  }
#endif
