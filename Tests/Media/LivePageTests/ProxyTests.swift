#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// The recipe of docs/guides/reverse-proxy.md, with nginx and Chromium.
  @Suite(.serialized) struct ProxyTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// The server of the guide, at a port of loopback.
    private func server(at port: Int, for page: String, path: String) throws -> String {
      let guide = try String(contentsOfFile: "docs/guides/reverse-proxy.md", encoding: .utf8)
      let blocks = guide.split(separator: "```")
      var text = try String(#require(blocks.first { $0.hasPrefix("nginx") }).dropFirst(5))
      for (old, new) in [
        ("listen 443", "listen 127.0.0.1:\(port)"), ("location /live/ ", "location \(path) "),
        ("http://192.0.2.7:8080/TOKEN/", page), ("/etc/nginx/live/", root.path + "/"),
      ] {
        try #require(text.contains(old), "the guide has no “\(old)”")
        text = text.replacing(old, with: new)
      }
      return text
    }

    private func start(_ servers: [String]) throws -> RunningProgram {
      let files = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
        "\($0)_temp_path \($0);"
      }
      let configuration = """
        user root; daemon off; master_process off; pid nginx.pid;
        events { worker_connections 64; }
        http { access_log off; \(files.joined(separator: " ")) \(servers.joined()) }
        """
      try configuration.write(toFile: root.file("nginx.conf"), atomically: true, encoding: .utf8)
      try output(
        of: "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
          "-keyout", root.file("key.pem"), "-out", root.file("cert.pem"), "-days", "2", "-subj",
          "/CN=live.example.com",
        ])
      let hash = try output(of: "openssl", ["passwd", "-apr1", "word"])
      try "you:\(hash)".write(toFile: root.file("users"), atomically: true, encoding: .utf8)
      return try RunningProgram(
        "nginx", ["-c", root.file("nginx.conf"), "-p", root.path, "-e", "stderr"])
    }

    @Test func recipeServesThePageByTLSUnderAPathAndAtTheRoot() throws {
      let token = "0123456789-abcdef_ABCDEF"
      try root.seal(token, "live", "page")
      let ports = [try OwnPort(), try OwnPort()]
      let urls = [
        "https://127.0.0.1:\(ports[0].number)/live/", "https://127.0.0.1:\(ports[1].number)/",
      ]
      let views = try urls.map {
        try ViewProgram(root, ["--token=live/page", "--public-url=\($0)", "--also=*"])
      }
      for view in views { #expect(view.url.hasSuffix("/\(token)/")) }
      let proxy = try start(
        [
          server(at: ports[0].number, for: views[0].url, path: "/live/"),
          server(at: ports[1].number, for: views[1].url, path: "/")
            .replacing("auth_basic           \"Live\"", with: "auth_basic off"),
        ])
      func ask(_ url: String, _ arguments: String...) throws -> String {
        try run("curl", ["-sk", "-o", "/dev/null", "-w", "%{http_code}", url] + arguments).output
      }
      try waitUntil("nginx listens") { try ask(urls[0]) == "401" }
      #expect(try ask(urls[0], "-u", "you:word") == "200")
      // Another page's script, and clients that name other hosts, in whatever header.
      #expect(try ask(urls[1], "-H", "Origin: https://evil.example") == "403")
      #expect(try ask(urls[1], "-H", "Host: evil.example") == "403")
      let forwarded = "X-Forwarded-Host: \(urls[1].dropFirst(8).dropLast())"
      #expect(try ask(urls[1], "-H", "Host: evil.example", "-H", forwarded) == "403")
      try watch(urls, by: views)
      try proxy.end(with: SIGQUIT)
      for view in views { try view.program.end(with: SIGTERM) }
    }

    private func watch(_ urls: [String], by views: [ViewProgram]) throws {
      let capture = try root.capture()
      let window = try root.framebus("capture", "test", "--size=400x300", "--stream=window")
      let page = try BrowserPage(
        urls[1] + "?stream=window", "untrusted", usedIn: root)
      try page.waitForMovingPictures()
      #expect(page.newest?.width == 400)
      try page.order("location = '\(urls[0])'.replace('//', '//you:word@')")
      try waitUntil("pictures under a path") {
        page.newest?.width == 320 && page.newest?.state == "Live"
      }
      try page.waitForMovingPictures()
      // The former session is removed through the proxy.
      try waitUntil("one viewer is left") {
        try views[1].figures(of: "window").viewers == 0 && views[0].figures().viewers == 1
      }
      try page.program.end(with: SIGTERM)
      try window.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }
  }
#endif
