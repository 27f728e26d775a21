#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  @testable import LivePage

  /// The page over real sockets, requested by curl.
  @Suite struct ServerTests {
    private let service = TestViewerService()
    private let page: LivePage

    init() throws {
      page = try LivePage(
        at: .loopback, title: "screen", hasSound: false, service: service, figures: { "{\"n\":1}" })
    }

    /// - Returns: the status and the answer.
    private func ask(_ arguments: String..., path: String = "") throws -> (String, String) {
      let result = try run(
        "curl", ["-s", "-w", "\n%{http_code}"] + arguments + [page.url + path])
      let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
      return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    @Test func offersArriveComplete() throws {
      defer { page.stop() }
      let offer = "v=0 " + String(repeating: "x", count: 60_000)
      let (status, answer) = try ask(
        "-H", "Content-Type: application/sdp", "--data-binary", offer, path: "whep")
      #expect(status == "201" && answer == TestViewerService.answer)
      #expect(service.words == ["offer \(offer) at 127.0.0.1"])
    }

    @Test func oversizedBodyIsRefused() throws {
      defer { page.stop() }
      let offer = String(repeating: "x", count: 70_000)
      let sent = ["-H", "Content-Type: application/sdp", "--data-binary", offer]
      #expect(try ask(sent[0], sent[1], sent[2], sent[3], path: "whep").0 == "413")
      // A body without a length is refused as well.
      #expect(
        try ask(
          "-H", "Transfer-Encoding: chunked", sent[0], sent[1], sent[2], sent[3], path: "whep"
        )
        .0 == "413")
      #expect(try ask("-H", "X: " + String(repeating: "x", count: 40_000)).0 != "200")
      #expect(service.words.isEmpty)
      #expect(try ask().0 == "200")
    }

    @Test func hostNamesAreRefused() throws {
      defer { page.stop() }
      #expect(try ask("-H", "Host: evil.example").0 == "403")
      #expect(try ask("-H", "Origin: http://evil.example").0 == "403")
      #expect(try ask("-X", "OPTIONS", path: "whep").0 == "405")
      #expect(try ask("-X", "BREW").0 == "405")
    }

    @Test func endlessBodyClosesConnection() throws {
      defer { page.stop() }
      let endless = try run(
        "bash",
        [
          "-c",
          "head -c 64M /dev/zero | curl -s -o /dev/null -w '%{http_code}' -T - -X POST"
            + " -H 'Expect:' -H 'Content-Type: application/sdp' \(page.url)whep",
        ])
      #expect(endless.output == "000" && service.words.isEmpty, "\(endless)")
      #expect(try ask().0 == "200")
    }

    @Test func headHasHeadersWithoutBody() throws {
      defer { page.stop() }
      for path in ["", "figures"] {
        let (status, head) = try ask("-I", path: path)
        let (_, answer) = try ask(path: path)
        #expect(status == "200")
        #expect(head.contains("Content-Length: \(answer.utf8.count)\r\n"), "\(head)")
      }
      #expect(try ask("-I", path: "whep").0 == "405")
    }

    @Test(arguments: ["%00", "%00whep", "figures%00", "figures%00/x", "%2e", "%0d%0a", "whep%00x"])
    func escapedPathIsNotFound(path: String) throws {
      defer { page.stop() }
      #expect(try ask(path: path).0 == "404")
    }

    @Test func repeatedHeadersAreRefused() throws {
      defer { page.stop() }
      let host = String(page.url.dropFirst(7).prefix { $0 != "/" })
      for other in ["Host: evil.example", "host: \(host)"] {
        let path = page.url.split(separator: "/").last ?? ""
        let request =
          "GET /\(path)/ HTTP/1.1\r\nHost: \(host)\r\n\(other)\r\n"
          + "Connection: close\r\n\r\n"
        let port = host.split(separator: ":").last ?? ""
        let result = try run(
          "bash",
          ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); printf %s \"$0\" >&3; cat <&3", request])
        #expect(result.output.hasPrefix("HTTP/1.1 403"), "\(result.output)")
      }
      #expect(
        try ask("-H", "Origin: http://\(host)", "-H", "Origin: http://evil.example").0 == "403")
      #expect(try ask("-H", "Origin: http://\(host)").0 == "200")
    }

    @Test func figuresAreOneJSONObject() throws {
      defer { page.stop() }
      #expect(try ask(path: "figures") == ("200", "{\"n\":1}"))
    }

    /// Clients that begin a request and then send nothing.
    @Test func silentClientsDoNotDelayOthers() throws {
      defer { page.stop() }
      let port = try #require(page.url.split(separator: ":").last?.split(separator: "/").first)
      let silent = try (0..<20).map { _ in
        try RunningProgram(
          "bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'GET /' >&3; echo on; read"])
      }
      for client in silent { try client.waitForOutput("on") }
      #expect(try ask().0 == "200")
      for client in silent { try client.end(with: SIGKILL) }
    }

    /// The announced address is then an IPv4 address.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/net/if_inet6")))
    func ipv6WildcardIncludesIPv4() throws {
      page.stop()
      let address = try #require(ListenAddress("[::]"))
      let wide = try LivePage(
        at: address, title: "", hasSound: false, service: service, figures: { "" })
      defer { wide.stop() }
      let asked = try run("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", wide.url])
      #expect(asked.output == "200", "\(wide.url): \(asked)")
    }

    @Test func addressInUseIsAnError() throws {
      defer { page.stop() }
      let taken = String(page.url.dropFirst(7).prefix { $0 != "/" })
      let address = try #require(ListenAddress(taken))
      #expect(throws: LivePageError.self) {
        try LivePage(at: address, title: "", hasSound: false, service: service, figures: { "" })
      }
    }
  }
#endif
