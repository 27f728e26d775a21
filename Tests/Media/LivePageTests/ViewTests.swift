#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// End to end: the capturer's test pattern, the bus, `framebus view`, and a browser.
  @Suite(.serialized) struct ViewTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test func twoViewersReceiveOneEncoding() throws {
      let view = try ViewProgram(root, ["screen", "audio.app"])
      let capture = try root.capture()
      let tone = try root.framebus("capture", "tone:440")
      let pages = [try BrowserPage(view.url), try BrowserPage(view.url)]
      for page in pages {
        try page.waitForMovingPictures()
        try page.wait(for: "sound") { $0.contains { $0.level > 0.05 } }
        #expect(page.newest?.width == 320)
      }
      let figures = try view.figures()
      #expect(figures.viewers == 2 && figures.state == "live")
      // The latency includes what the browser takes from a picture's arrival to the screen.
      let parts = /encoded after \d+ ms, network \d+, browser \d+ \(buffer/
      try pages[1].wait(for: "a latency") { sights in
        sights.contains { $0.latencyParts?.contains(parts) == true }
      }
      // One is killed, which does not affect the other.
      try pages[0].program.end(with: SIGKILL)
      try pages[1].waitForMovingPictures()
      try waitUntil("one viewer is left") { try view.figures().viewers == 1 }
      try pages[1].waitForMovingPictures()
      try pages[1].program.end(with: SIGTERM)
      let result = try view.program.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.output.contains("\"viewers\":2"))
      try tone.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test func pageWaitsForStreamAndReconnects() throws {
      let view = try ViewProgram(root)
      let page = try BrowserPage(view.url)
      try page.wait(for: "waiting") { $0.contains { $0.state == "Waiting for the stream" } }
      let first = try root.capture()
      try page.waitForMovingPictures()
      // It dies and restarts with another size; then it ends and starts again.
      for signal in [SIGKILL, SIGTERM] {
        let capture = signal == SIGKILL ? first : try root.capture("400x300")
        if signal == SIGTERM { try page.waitForMovingPictures() }
        try capture.end(with: signal)
        try page.wait(for: "gone") { $0.contains { $0.state == "The stream is gone" } }
        #expect(page.newest?.advice.contains("comes back") == true)
      }
      let last = try root.capture()
      try page.waitForMovingPictures()
      // The program that serves the page ends: the page shows it.
      try view.program.end(with: SIGINT)
      try page.wait(for: "an end") { $0.contains { $0.state == "No answer from framebus view" } }
      try page.program.end(with: SIGTERM)
      try last.end(with: SIGTERM)
    }

    /// Its connection lasts, but no picture arrives.
    @Test func pageSaysThatNoPictureArrives() throws {
      let view = try ViewProgram(root)
      let capture = try root.capture()
      let page = try BrowserPage(view.url)
      try page.waitForMovingPictures()
      view.program.process.send(signal: SIGSTOP)
      try page.wait(for: "a pause") { $0.contains { $0.state == "No new picture" } }
      view.program.process.send(signal: SIGCONT)
      try page.waitForMovingPictures()
      try page.program.end(with: SIGTERM)
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test func pageNamesTheEncoderForABrowserWithoutTheCodec() throws {
      let view = try ViewProgram(root)
      let page = try BrowserPage(view.url, "without=H264")
      try page.wait(for: "advice") { sights in
        sights.contains {
          $0.state == "No codec that this browser plays" && $0.advice.contains("vp8")
            && $0.advice.contains("H264")
        }
      }
      try page.program.end(with: SIGTERM)
      try view.program.end(with: SIGTERM)
    }

    @Test func pageNamesTheApplicationInFrontAndWhyTheStreamIsPaused() throws {
      let screen = try VirtualScreen(width: 320, height: 240)
      let desktop = try Desktop(on: screen)
      let windows = [
        try ShownWindow("one", "60x40+20+30", on: screen),
        try ShownWindow("two", "60x40+120+30", on: screen),
      ]
      let capture = try root.framebus("capture", "screen:\(screen.display)")
      let view = try ViewProgram(root)
      let page = try BrowserPage(view.url)
      for window in windows + [windows[0]] {
        try desktop.bringToFront(window)
        try page.wait(for: "the name") { $0.contains { $0.application == window.name } }
      }
      // A pause has its reason.
      let saver = try screen.show("/usr/bin/python3", [tool("screen_saver.py"), "show"])
      try saver.waitForOutput("on")
      try page.wait(for: "a pause") { sights in
        sights.contains {
          $0.state == "The stream is paused"
            && $0.advice.hasPrefix("Because its source shows nothing, such as a screen that is off")
        }
      }
      try screen.show("xset", ["s", "reset"]).finish()
      try page.wait(for: "its end") { $0.last.map { $0.state != "The stream is paused" } ?? false }
      // The name ends with the stream.
      try capture.end(with: SIGKILL)
      try page.wait(for: "no name") { $0.contains { $0.application == "" } }
      try page.program.end(with: SIGTERM)
      try view.program.end(with: SIGTERM)
      withExtendedLifetime(saver) {}
    }

    /// aiortc as a viewer that is not a browser.
    @Test(arguments: ["H264", "VP8"])
    func aiortcDecodesFrames(codec: String) throws {
      let view = try ViewProgram(root, codec == "VP8" ? ["--encoder=vp8"] : [])
      let capture = try root.capture()
      let viewer = try RunningProgram(
        "/usr/bin/python3", [tool("whep_viewer.py"), view.url + "whep", "codec=\(codec)"])
      try viewer.waitForOutput("frame 50 320x240")
      let result = try viewer.end(with: SIGTERM)
      #expect(result.output.contains("POST 201") && result.output.contains("DELETE 200"))
      try waitUntil("there are no viewers") { try view.figures().viewers == 0 }
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test func streamIsNotReadWithoutViewers() throws {
      let view = try ViewProgram(root)
      let capture = try root.capture()
      func subscribers() throws -> Int {
        struct Stream: Decodable {
          struct Subscriber: Decodable {}
          let subscribers: [Subscriber]
        }
        let listed = try root.framebus("streams", "--json").finish().output
        let streams = try JSONDecoder().decode([Stream].self, from: Data(listed.utf8))
        return streams.reduce(0) { $0 + $1.subscribers.count }
      }
      let page = try BrowserPage(view.url)
      try page.waitForMovingPictures()
      #expect(try subscribers() == 1)
      try page.program.end(with: SIGTERM)
      try waitUntil("reading has stopped") { try subscribers() == 0 }
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test func excessViewersAndMalformedOffersAreRefused() throws {
      let view = try ViewProgram(root, ["--viewers=1"])
      let sdp = ["-H", "Content-Type: application/sdp", "--data-binary"]
      for (offer, status) in [
        ("malformed", "400"), ("", "400"), ("v=0\r\n", "400"),
        ("v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n", "400"), (Self.offer("H265"), "406"),
        (Self.offer("H264").replacing("recvonly", with: "sendonly"), "406"),
        (Self.offer("H264").replacing("ice-ufrag:abcd", with: "ice-ufrag:"), "400"),
        (Self.offer("H264").replacing("setup:actpass", with: "setup:foo"), "400"),
        (Self.offer("H264", candidates: 65), "400"),
        // A payload type that GStreamer's payloaders do not accept.
        (Self.offer("H264").replacing("96", with: "72"), "406"),
      ] {
        let result = try view.ask("whep", sdp[0], sdp[1], sdp[2], offer)
        #expect(result.status == status, "\(offer): \(result)")
      }
      let (status, _) = try view.ask("whep", sdp[0], sdp[1], sdp[2], Self.offer("H264"))
      #expect(status == "201")
      let full = try view.ask("whep", sdp[0], sdp[1], sdp[2], Self.offer("H264"))
      #expect(full.status == "503" && full.answer.contains("--viewers"), "\(full)")
      // A viewer that never connects times out, which frees its place.
      try waitUntil("the place is free") { try view.figures().viewers == 0 }
      try view.program.end(with: SIGTERM)
    }

    /// As of a peer with two certificates (RFC 8122).
    @Test func offerWithSeveralFingerprintsIsAnswered() throws {
      let view = try ViewProgram(root)
      let older = "a=fingerprint:sha-1 " + Array(repeating: "AB", count: 20).joined(separator: ":")
      let offer = Self.offer("H264")
      for both in [
        offer.replacing("a=fingerprint:", with: older + "\r\na=fingerprint:"),
        offer.replacing("a=group:", with: older + "\r\na=group:"),
      ] {
        let viewer = try view.admit(both)
        #expect(try view.ask(viewer, "-X", "DELETE").status == "200")
      }
      let result = try view.program.end(with: SIGTERM)
      #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
    }

    /// A publisher's format sets the memory that a picture needs.
    @Test func oversizedPicturesUseNoMemory() throws {
      let view = try ViewProgram(root)
      let publisher = try RunningProgram(
        "UploadTestPublisher", [root.path, "screen", "live", "HOLE:8192x4368:3000:20000"])
      _ = try view.admit(Self.offer("H264"))
      try view.program.waitForErrors("frames of 8192×4368 pixels cannot be encoded; publish sides")
      #expect(try ProcessFacts(view.program.processID).peakResidentBytes < 150 << 20)
      try publisher.end(with: SIGTERM)
      try view.program.end(with: SIGTERM)
    }

    /// By TLS and under a path of its own, without `--public-url`: nginx sends the page's address.
    @Test func reverseProxyServesPageAtAnotherAddress() throws {
      let view = try ViewProgram(root)
      let proxy = try ReverseProxy(of: view.url, in: root)
      func ask(_ path: String, _ arguments: String...) throws -> String {
        try run("curl", ["-sk", "-i"] + arguments + [proxy.url + path]).output
      }
      #expect(try ask("").contains("200 OK"))
      #expect(try ask("figures").contains("\"viewers\":0"))
      let offered = try ask(
        "whep", "-H", "Content-Type: application/sdp", "-H", "Origin: \(proxy.origin)",
        "--data-binary", Self.offer("H264"))
      let viewer = try #require(offered.firstMatch(of: /(?i)location: (whep\/\w+)/)?.output.1)
      #expect(
        try ask(String(viewer), "-X", "DELETE", "-H", "Origin: \(proxy.origin)").contains("200"))
      // Without the settings, the refusal names the missing header.
      let direct = try view.ask("", "-H", "Host: live.example.com")
      #expect(direct.status == "403" && direct.answer.contains("as Host"))
      let foreign = try view.ask("", "-H", "Origin: \(proxy.origin)")
      #expect(foreign.status == "403" && foreign.answer.contains("as Origin"))
      try proxy.program.end(with: SIGQUIT)
      try view.program.end(with: SIGTERM)
    }

    /// An offer of a viewer that never connects.
    static func offer(_ codec: String, candidates: Int = 0) -> String {
      [
        "v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
        "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:0", "a=recvonly",
        "a=rtcp-mux", "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx",
        "a=setup:actpass", "a=rtpmap:96 \(codec)/90000", "a=fmtp:96 packetization-mode=1",
        "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"), "",
      ].joined(separator: "\r\n")
        + String(
          repeating: "a=candidate:1 1 udp 2113937151 127.0.0.1 9 typ host\r\n", count: candidates)
    }

    @Test func tokenAppearsOnlyInAddress() throws {
      let view = try ViewProgram(root)
      let token = try #require(view.url.split(separator: "/").last)
      #expect(try view.ask("").status == "200")
      #expect(try view.ask("../").status == "403")
      #expect(try run("grep", ["-rq", String(token), root.path]).status == .exited(1))
      let path = "/proc/\(view.program.processID)/"
      for name in ["cmdline", "environ"] {
        let bytes = try Data(contentsOf: URL(filePath: path + name))
        #expect(bytes.range(of: Data(token.utf8)) == nil)
      }
      let result = try view.program.end(with: SIGINT)
      #expect(result.status == .exited(130) && !result.errors.contains(token), "\(result.errors)")
      #expect(!(try root.framebus("log", "--level", "trace").finish().output.contains(token)))
    }

    /// A WHIP upload of pictures and sound to a browser.
    @Test(arguments: [[], ["--encoder=vp8"], ["--encoder=vp9"], ["--encoder=openh264"]])
    func browserReceivesWHIPUpload(how: [String]) throws {
      let page = try BrowserPage(by: "whip_bridge.py")
      try page.program.waitForOutput("\n", within: .seconds(120))
      let port = page.program.output.text.split { $0 == " " || $0 == "\n" }[1]
      let capture = try root.capture()
      let tone = try root.framebus("capture", "tone:440")
      let upload = try RunningProgram(
        "framebus",
        [
          "upload", "whip:http://127.0.0.1:\(port)/whip", "--stream=screen",
          "--stream=audio.app",
        ] + how, environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil])
      try page.waitForMovingPictures(state: "connected")
      try page.wait(for: "sound") { $0.contains { $0.level > 0.05 } }
      #expect(page.newest?.width == 320)
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      try page.program.waitForOutput("DELETE 200")
      #expect(page.program.output.text.contains("PATCH 204"))
      try page.program.end(with: SIGTERM)
      try tone.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test(
      arguments: [
        ["--listen=localhost"], ["--listen=127.0.0.1:99999"], ["--viewers=0"], ["--viewers=33"],
        ["--encoder=theora"], ["--bitrate=much"], ["screen", "screen"], ["a/b"],
      ])
    func invalidArgumentsAreUsageErrors(arguments: [String]) throws {
      let result = try run(
        "framebus", ["view"] + arguments, environment: ["FRAMEBUS_HOME": root.path])
      #expect(result.status == .exited(2) && result.errors.hasPrefix("error: "), "\(result.errors)")
    }

    @Test func addressOfAnotherMachineIsAnError() throws {
      let result = try root.framebus("view", "--listen=192.0.2.1").finish()
      #expect(result.status == .exited(1) && result.errors.contains("192.0.2.1"))
      #expect(result.output.isEmpty)
    }
  }
#endif
