#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Uploads over a link that carries less than they would send, and what a receiver asks for.
  @Suite(.serialized, .enabled(if: getuid() == 0, "only root can make networks"))
  struct CongestionTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// Noise cannot be compressed: the encoder uses all that it may.
    private func capture() throws -> RunningProgram {
      try realTime(["capture", "test:noise", "--size", "640x360", "--fps", "30"])
    }

    private func upload(to server: WebServer, _ more: String...) throws -> RunningProgram {
      try realTime(
        ["upload", "whip:\(server.address("whip"))", "--allow-http", "--verbose"] + more)
    }

    /// Runs framebus with real-time priority: waiting for a processor would be a delay of the link.
    private func realTime(_ arguments: [String]) throws -> RunningProgram {
      try RunningProgram(
        "chrt",
        ["--rr", "1", try pathOfProgram("framebus")] + arguments + ["--root", root.path])
    }

    /// The link has a round trip of 40 ms and a queue of 250 ms. The receiver reports the arrival
    /// of each packet, as browsers do, or only losses.
    @Test(arguments: ["arrivals=yes", "arrivals=no"])
    func slowLinkIsNotFloodedAndPictureContinues(how: String) throws {
      let network = try NetworkNamespace(slowLink: ["delay=20", "queue=250"])
      let server = try WebServer("whip_server.py", ["0", how], in: network)
      let capture = try capture()
      let upload = try upload(to: server, "--bitrate", "1500k")
      try server.waitForFrames(60)
      let (bytes, start) = (try network.sentBytes, monotonicNowNs())
      let frameCount = server.frameNumbers.count
      try network.set("rate", 400)
      try waitUntil("200 pictures: \(upload.transcript)") {
        server.frameNumbers.count >= frameCount + 200
      }
      let seconds = Double(monotonicNowNs() - start) / 1e9
      let offered = Double(try network.sentBytes - bytes) * 8 / seconds
      // 8 Mbit/s and more while each request for a retransmission was answered.
      #expect(offered < 1.3 * 1_500_000, "\(offered) bit/s in \(seconds) s")
      if how == "arrivals=yes" {
        // Measured in the pattern's own time, because the machine may be busy.
        let numbers = server.frameNumbers.dropFirst(frameCount)
        let longest = zip(numbers, numbers.dropFirst()).map { $1 - $0 }.max() ?? 0
        // 158 while what the full queue lost was sent again.
        #expect(longest < 100, "a gap of \(longest) frames")
      }
      try network.set("rate", 0)
      try waitUntil("the bitrate has recovered: \(upload.transcript)") {
        upload.errors.text.split(separator: "\n").last { $0.contains("set the bitrate to") }
          .flatMap { $0.split(separator: " ").dropLast().last }.flatMap { Int($0) } ?? 0 > 800
      }
      #expect(server.lines("POST") == ["POST 201"])
      #expect(try upload.end(with: SIGTERM).status == .exited(0))
      try capture.end(with: SIGTERM)
    }

    /// 704x400 pixels have half the frame rate below 281 kbit/s, and half the sides below 140.
    @Test func fewBitsMakeFewerAndSmallerPicturesAndBack() throws {
      let network = try NetworkNamespace(slowLink: ["delay=20", "queue=250"])
      let server = try WebServer("whip_server.py", ["0", "arrivals=yes"], in: network)
      let capture = try realTime(["capture", "test:noise", "--size", "704x400", "--fps", "30"])
      let upload = try upload(to: server, "--bitrate", "600k", "--least-bitrate", "50k")
      try server.waitForFrames(60)
      try network.set("rate", 130)
      func small() -> [Int] {
        server.lines("frame ").filter { $0.hasSuffix(" 352x200") }
          .compactMap { Int($0.split(separator: " ")[1]) }
      }
      try waitUntil("smaller pictures: \(upload.transcript)") { small().count >= 5 }
      // Of two pictures, one.
      let numbers = small()
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 > 1 }, "\(numbers)")
      try network.set("rate", 0)
      try waitUntil("pictures of full size: \(upload.transcript)") {
        server.lines("frame ").last?.hasSuffix(" 704x400") == true
      }
      #expect(server.lines("POST") == ["POST 201"])
      #expect(try upload.end(with: SIGTERM).status == .exited(0))
      try capture.end(with: SIGTERM)
    }

    @Test func receiversBoundIsObeyedAndFiguresAreShown() throws {
      let network = try NetworkNamespace(slowLink: ["delay=20"])
      let server = try WebServer("whip_server.py", ["0", "remb=300000"], in: network)
      let capture = try capture()
      let upload = try upload(to: server, "--bitrate", "1500k", "--json")
      try upload.waitForErrors("set the bitrate to 300 kbit/s")
      try upload.waitForErrors(", target 0.3 Mbit/s, RTT ")
      let offer = server.lines("offer a=extmap:")
      #expect(offer.count == 1 && offer[0].hasSuffix("transport-wide-cc-extensions-01"))
      let result = try upload.end(with: SIGTERM)
      let summary = try JSONDecoder().decode(Summary.self, from: Data(result.output.utf8))
      #expect(summary.network.target_bits_per_second == 300_000)
      #expect(summary.network.round_trip_ns ?? 0 >= 40_000_000)
      // A busy machine may lose a few packets.
      #expect((summary.network.lost_share ?? 0) < 0.1)
      try capture.end(with: SIGTERM)
    }

    @Test func keyFrameRequestsAreGrantedOnceASecondAndTheLastIsKept() throws {
      let server = try WebServer("whip_server.py", ["0", "plis=40,43,46,49,52"])
      let capture = try capture()
      let upload = try upload(to: server)
      try server.waitForFrames(140)
      try upload.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      let numbers = server.frameNumbers
      let asked = numbers[39]
      let keys = server.lines("key ").compactMap { Int($0.dropFirst(4)) }.filter { $0 > asked }
      // Five were; in the pattern's own time, of which a busy machine sends only some.
      #expect(keys.count >= 2 && keys[0] < asked + 25, "\(keys) after \(asked)")
      #expect(keys.count < 2 || (25..<60).contains(keys[1] - keys[0]), "\(keys)")
    }
  }

  private struct Summary: Decodable {
    struct Network: Decodable {
      let target_bits_per_second: Int
      let round_trip_ns: Int?
      let lost_share: Double?
      let retransmitted_packets: Int
    }
    let network: Network
  }
#endif
