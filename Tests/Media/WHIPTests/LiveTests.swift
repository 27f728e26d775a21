#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// End to end: the capturer's test pattern, the bus, the uploader, and an independent WebRTC
  /// stack that reads the numbers drawn in the frames it decodes.
  @Suite(.serialized) struct LiveTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private var environment: [String: String?] {
      ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil, "FRAMEBUS_LOG_LEVEL": "debug"]
    }

    private func start(_ arguments: String..., inherited: [Int32] = []) throws -> RunningProgram {
      try RunningProgram(
        "framebus", arguments,
        environment: environment,
        inherited: inherited)
    }

    private func capture(framesPerSecond: Int = 30) throws -> RunningProgram {
      try start("capture", "test", "--size", "320x240", "--fps", "\(framesPerSecond)")
    }

    private func server(_ settings: String...) throws -> WebServer {
      try WebServer("whip_server.py", ["0"] + settings)
    }

    /// Whether the numbers rise; a still screen may show a number again.
    private func rises(_ numbers: [Int]) -> Bool {
      zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 }
        && Set(numbers).count > numbers.count * 9 / 10
    }

    @Test(arguments: [["H264"], ["VP8", "--encoder=vp8"], ["H264", "--profile=high"]])
    func aiortcDecodesThreeHundredFramesInOrder(how: [String]) throws {
      let server = try server("codec=\(how[0])")
      let capture = try capture(framesPerSecond: 60)
      let upload = try RunningProgram(
        "framebus", ["upload", "whip:\(server.address("whip"))", "--json"] + how.dropFirst(),
        environment: environment)
      try server.waitForFrames(300)
      // SIGTERM requests a clean end, which removes the session at the endpoint.
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      try capture.end(with: SIGTERM)
      try server.program.waitForOutput("DELETE 200")
      #expect(server.lines("POST") == ["POST 201"])
      #expect(server.lines("PATCH").contains("PATCH 204"))
      #expect(!server.lines("PATCH").contains { $0 != "PATCH 204" })
      #expect(rises(server.frameNumbers), "\(server.frameNumbers)")
      #expect(server.lines("frame ").allSatisfy { $0.hasSuffix("320x240") })
      #expect(server.lines("fragment a=candidate:").contains { $0.contains(" 127.0.0.1 ") })
      #expect(server.lines("offer a=setup") == ["offer a=setup:actpass"])
      let feedback = server.lines("offer a=rtcp-fb:96 nack")
      #expect(feedback == ["offer a=rtcp-fb:96 nack", "offer a=rtcp-fb:96 nack pli"])
    }

    @Test func bearerFromStoreOrDescriptorAppearsNowhereElse() throws {
      let token = "s3cret-\(UInt64.random(in: 0...UInt64.max))"
      let server = try server("token=\(token)")
      try root.seal(token, "live.example.com", "studio")
      let capture = try capture()
      let upload = try start(
        "upload", "whip:\(server.address("whip"))", "--verbose", "--credential",
        "live.example.com/studio")
      try server.waitForFrames(10)
      for name in ["cmdline", "environ"] {
        let bytes = try Data(contentsOf: URL(filePath: "/proc/\(upload.processID)/\(name)"))
        #expect(bytes.range(of: Data(token.utf8)) == nil)
      }
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0) && !(result.errors + result.output).contains(token))
      try capture.end(with: SIGTERM)
      let log = try start("log", "--level", "debug", "--grep", "Connected to").finish().output
      #expect(log.contains("127.0.0.1"), "the log has no lines of libcurl")
      // No file of the group contains it in plain text.
      #expect(try run("grep", ["-rq", token, root.path]).status == .exited(1))
      let refused = try start("upload", "whip:\(server.address("whip"))", "--frames", "5")
      let second = try self.capture()
      let end = try refused.finish()
      #expect(end.status == .exited(1) && end.errors.contains("status 401"), "\(end.errors)")
      try second.end(with: SIGTERM)
    }

    /// An attacker on the path to the peer can answer in its place, but does not have its key.
    @Test func peerWithAnotherCertificateThanTheAnswerNamesIsSentNothing() throws {
      let server = try server("fingerprint=no")
      let capture = try capture()
      let upload = try start("upload", "whip:\(server.address("whip"))")
      let result = try upload.finish(within: .seconds(120))
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("has another certificate than"), "\(result.errors)")
      try server.program.waitForOutput("DELETE 200")
      #expect(server.frameNumbers.isEmpty && server.lines("sound").isEmpty)
      try capture.end(with: SIGTERM)
    }

    @Test func uploadReconnectsToRestartedServer() throws {
      let first = try server()
      let capture = try capture()
      let upload = try start("upload", "whip:\(first.address("whip"))")
      try first.waitForFrames(20)
      try first.program.end(with: SIGKILL)
      try upload.waitForErrors("trying again", within: .seconds(120))
      let again = try WebServer("whip_server.py", ["\(first.port)"])
      try again.waitForFrames(30)
      #expect(rises(again.frameNumbers))
      let newest = first.frameNumbers.last ?? .max
      #expect(newest < again.frameNumbers.first ?? 0)
      let result = try upload.end(with: SIGINT)
      #expect(result.status == .exited(130), "\(result.errors)")
      let lines = result.errors.split(separator: "\n").map(String.init)
      let connecting = lines.firstIndex { $0.hasPrefix("connecting to whip:") }
      let live = lines.indices.filter { lines[$0] == "connected; sending live" }
      #expect(live.count == 2 && connecting ?? .max < live[0], "\(result.errors)")
      try again.program.waitForOutput("DELETE 200")
      // The capturer was not affected.
      try capture.end(with: SIGTERM)
      #expect(!capture.errors.text.contains("error"))
    }

    @Test(arguments: [("2", "2"), ("3d", "[23]")])
    func firstAttemptIsRepeatedWhenTheServerAsksForIt(busy: String, seconds: String) throws {
      try withWatchdog {
        let server = try server("busy=\(busy)")
        let capture = try capture()
        let upload = try start("upload", "whip:\(server.address("whip"))")
        try server.waitForFrames(10)
        let said = try Regex("busy; try again in \(seconds) s; trying again in \(seconds).0 s")
        #expect(upload.errors.text.contains(said), "\(upload.transcript)")
        #expect(server.lines("POST") == ["POST 503", "POST 201"])
        #expect(try upload.end(with: SIGTERM).status == .exited(0))
        try capture.end(with: SIGTERM)
      }
    }

    @Test func serverThatAsksForMoreTimeThanThereIsEndsTheUpload() throws {
      let server = try server("busy=100000")
      let capture = try capture()
      let result = try start("upload", "whip:\(server.address("whip"))").finish()
      #expect(result.status == .exited(1), "\(result.errors)")
      #expect(result.errors.contains("busy; try again in 86400 s\n"), "\(result.errors)")
      #expect(server.lines("POST") == ["POST 503"])
      try capture.end(with: SIGTERM)
    }

    @Test(
      arguments: [
        ("slow", "1", "nothing was sent: no connection to whip:http:"),
        ("status/503", "20", "status 503"), ("refusing", "600", "accepts none"),
      ])
    func uploadThatNeverConnectedEndsWithTheReason(
      path: String, seconds: String, reason: String
    ) throws {
      try withWatchdog {
        let odd = try WebServer("odd_web_server.py")
        let capture = try capture()
        let result = try start(
          "upload", "whip:\(odd.address(path))", "--duration", seconds
        ).finish()
        #expect(result.status == .exited(1), "\(result.errors)")
        let last = result.errors.split(separator: "\n").last ?? ""
        #expect(last.hasPrefix("error: ") && last.contains(reason), "\(result.errors)")
        try capture.end(with: SIGTERM)
      }
    }

    /// By a close_notify, not by silence.
    @Test func serverThatClosesTheConnectionIsLeftAtOnce() throws {
      try withWatchdog {
        let server = try server("closes=20")
        let capture = try capture()
        let upload = try start("upload", "whip:\(server.address("whip"))")
        try upload.waitForErrors("has closed the media connection; see the server's own log; try")
        // The next connection is one of its own.
        try server.waitForFrames(30)
        #expect(server.lines("POST") == ["POST 201", "POST 201"])
        #expect(server.lines("DELETE") == ["DELETE 200"])
        _ = try upload.end(with: SIGTERM)
        try capture.end(with: SIGTERM)
      }
    }

    @Test func failedFirstAttemptIsAnError() throws {
      let odd = try WebServer("odd_web_server.py")
      let capture = try capture()
      for (path, what) in [("status/406", "status 406"), ("html", "text/html")] {
        let result = try start("upload", "whip:\(odd.address(path))").finish()
        #expect(result.status == .exited(1) && result.errors.contains(what), "\(result.errors)")
        #expect(result.errors.contains("connecting to whip:") && !result.errors.contains("live"))
      }
      try capture.end(with: SIGTERM)
    }

    @Test(
      arguments: [
        ["whip:ftp://h/x"], ["whip:http://192.0.2.1/x"], ["whip:"],
        ["whip:https://h/x", "--encoder=theora"], ["whip:https://h/x", "--profile=main"],
        ["whip:https://h/x", "--turn=http://h"], ["whip:https://h/x", "--bearer-fd=-1"],
        ["whip:https://h/x", "--credential=none"],
      ])
    func invalidArgumentsAreUsageErrors(arguments: [String]) throws {
      let result = try run(
        "framebus", ["upload"] + arguments,
        environment: environment)
      #expect(result.status == .exited(2) && result.errors.hasPrefix("error: "), "\(result.errors)")
    }

    @Test func probeShowsEndpointSupport() throws {
      let server = try server("codec=VP8")
      let result = try start("whip", "probe", server.address("whip"), "--json").finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let found = try JSONDecoder().decode(ProbeResult.self, from: Data(result.output.utf8))
      #expect(found.media.map(\.kind) == ["audio", "video"])
      #expect(found.media[1].codecs == ["VP8"] && found.patch && found.etag && found.delete)
      try server.program.waitForOutput("DELETE 200")
      let text = try start("whip", "probe", server.address("whip")).finish()
      #expect(text.output.contains("lacks        nothing"), "\(text.output)")
      // An address that an error suggests works.
      let short = server.address("whip").replacingOccurrences(of: "http://", with: "")
      let refused = try start("whip", "probe", short).finish()
      #expect(refused.status == .exited(2))
      #expect(refused.errors.contains("whip:http://HOST/PATH"), "\(refused.errors)")
      let suggested = try start("whip", "probe", "whip:http://\(short)").finish()
      #expect(suggested.status == .exited(0), "\(suggested.errors)")
      let wrong = try start("whip", "probe", server.address("nothing")).finish()
      #expect(wrong.status == .exited(1) && wrong.errors.contains("status 404"), "\(wrong.errors)")
    }
  }

  extension LiveTests {
    @Test(arguments: ["pli", "fir"])
    func requestedKeyFrameIsSent(how: String) throws {
      let server = try server("\(how)=30")
      let capture = try capture()
      let upload = try start("upload", "whip:\(server.address("whip"))")
      try server.waitForFrames(160)
      try upload.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      let keys = server.lines("key ").compactMap { Int($0.dropFirst(4)) }
      // Without requests, one in 120 is one; the first was made before the connection.
      let steps = zip(keys.dropFirst(), keys.dropFirst(2)).map { $1 - $0 }
      #expect(keys.count >= 4 && steps.allSatisfy { $0 < 120 }, "\(keys)")
    }

    @Test func unrequestedMediaFromEndpointAreDropped() throws {
      let server = try server("sends=yes")
      let capture = try capture()
      let tone = try start("capture", "tone:440")
      let upload = try start(
        "upload", "whip:\(server.address("whip"))", "--stream", "screen", "--stream", "audio.app")
      try server.waitForFrames(40)
      try server.waitForPitch(440)
      #expect(server.lines("answer") == ["answer a=sendrecv", "answer a=sendrecv"])
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0) && !result.errors.contains("trying again"))
      try server.program.waitForOutput("DELETE 200")
      #expect(server.lines("POST") == ["POST 201"])
      #expect(server.lines("sent ").allSatisfy { $0 != "sent 0" } && !server.lines("sent ").isEmpty)
      try tone.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test(arguments: ["sendonly", "inactive"])
    func answerWithoutAcceptedMediaIsAnError(direction: String) throws {
      let server = try server("answers=\(direction)")
      let capture = try capture()
      let result = try start("upload", "whip:\(server.address("whip"))").finish()
      #expect(result.status == .exited(1) && result.errors.contains("accepts none"))
      try server.program.waitForOutput("DELETE 200")
      try capture.end(with: SIGTERM)
    }

    @Test(arguments: [("audio", "accepts no sound"), ("video", "accepts no pictures")])
    func refusedMediaAreReportedOnceAndNotSent(kind: String, notice: String) throws {
      let server = try server("refuses=\(kind)")
      let capture = try capture()
      let tone = try start("capture", "tone:440")
      let upload = try start(
        "upload", "whip:\(server.address("whip"))", "--stream", "screen", "--stream", "audio.app")
      if kind == "audio" {
        try server.waitForFrames(40)
        #expect(server.lines("sound ").isEmpty)
      } else {
        // On a busy machine there are gaps in the tone, whose pitch is another then.
        try waitUntil("sound that is not silence: \(server.program.transcript)") {
          server.lines("sound ").contains { Int($0.split(separator: " ").last ?? "") ?? 0 > 8000 }
        }
        // One frame began the offer.
        #expect(server.frameNumbers.count <= 1)
      }
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0) && !result.errors.contains("trying again"))
      #expect(result.errors.components(separatedBy: notice).count == 2, "\(result.errors)")
      #expect(try start("log").finish().output.components(separatedBy: notice).count == 2)
      try tone.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test func frameLimitEndsUploadWhosePicturesAreRefused() throws {
      try withWatchdog {
        let server = try server("refuses=video")
        let capture = try capture()
        let tone = try start("capture", "tone:440")
        let result = try start(
          "upload", "whip:\(server.address("whip"))", "--stream", "screen", "--stream",
          "audio.app", "--frames", "20", "--encoder", "x264"
        ).finish()
        #expect(result.status == .exited(0), "\(result.errors)")
        #expect(result.errors.contains("accepts no pictures"))
        // None was sent again, because none was sent.
        #expect(!result.errors.contains("repeated"), "\(result.errors)")
        try tone.end(with: SIGTERM)
        try capture.end(with: SIGTERM)
      }
    }

    @Test func verboseLogHasNoSecrets() throws {
      let key = "sk-51f00d77"
      let relay = try Relay()
      try root.seal(Relay.password, "turn.example.com", Relay.user)
      let server = try server("path=whip/\(key)")
      let capture = try capture()
      let upload = try RunningProgram(
        "framebus",
        [
          "upload", "whip:\(server.address("whip/\(key)"))", "--verbose", "--relay-only",
          "--turn", "turn:127.0.0.1:\(relay.port)?transport=udp", "--turn-credential",
          "turn.example.com/\(Relay.user)",
        ],
        environment: environment.merging(
          ["FRAMEBUS_LOG_LEVEL": "trace", "GST_DEBUG": "webrtc*:5"],
          uniquingKeysWith: { $1 }))
      try server.waitForFrames(10)
      let result = try upload.end(with: SIGTERM)
      let failed = try start("upload", "whip:\(server.address("no/\(key)"))").finish()
      try capture.end(with: SIGTERM)
      #expect(failed.errors.contains("status 404") && !failed.errors.contains(key))
      #expect(result.status == .exited(0))
      let log = try start("log", "--level", "trace").finish().output
      #expect(log.contains("turn://…@127.0.0.1"), "the log has no lines of GStreamer")
      for secret in [Relay.password, "pa%3Ass%2Fword-77", key] {
        #expect(!log.contains(secret))
        #expect(try run("grep", ["-rq", secret, root.path]).status == .exited(1))
      }
    }

    @Test func toneIsReceivedWithPictures() throws {
      let server = try WebServer("whip_server.py", ["0"])
      let capture = try capture()
      let tone = try RunningProgram(
        "UploadTestPublisher", [root.path, "audio.app", "live", "TONE:48000x2:6000:10000"])
      let upload = try RunningProgram(
        "framebus",
        [
          "upload", "whip:\(server.address("whip"))", "--stream", "screen", "--stream",
          "audio.app",
        ], environment: environment)
      try server.waitForFrames(40)
      // The pitch of a second without late chunks; a busy machine delays some.
      try server.waitForPitch(440)
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(!server.lines("offer a=rtcp-fb:111 nack").contains("offer a=rtcp-fb:111 nack"))
      try tone.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }
  }

  private struct ProbeResult: Decodable {
    struct Media: Decodable {
      let kind: String
      let codecs: [String]
    }
    let media: [Media]
    let patch: Bool
    let etag: Bool
    let delete: Bool
  }
#endif
