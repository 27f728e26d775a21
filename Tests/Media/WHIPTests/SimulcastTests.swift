#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  @testable import WHIP

  /// Three sizes of the pictures in one media section (RFC 8853).
  @Suite(.serialized) struct SimulcastTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func capture() throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["capture", "test", "--size", "640x480", "--root", root.path])
    }

    /// Janus separates the layers by the names in their packets, and forwards each to a decoder.
    @Test(.enabled(if: getuid() == 0, "only root can make networks"))
    func janusReceivesThreeLayers() throws {
      let network = try NetworkNamespace()
      let janus = try network.startJanus(in: root)
      let server = try WebServer(
        "janus_whip.py", ["http://127.0.0.1:8088/janus", "layers=yes"], in: network,
        on: "127.0.0.1")
      let capture = try capture()
      let upload = try network.start(
        pathOfProgram("framebus"),
        ["upload", "whip:\(server.address("whip"))", "--root", root.path, "--simulcast"])
      for size in ["640x480", "320x240", "160x120"] {
        try waitUntil("pictures of \(size): \(upload.transcript)") {
          server.lines("frame ").count { $0.hasSuffix(size) } > 20
        }
      }
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(!result.errors.contains("one size"), "\(result.errors)")
      try capture.end(with: SIGTERM)
      try janus.end(with: SIGINT)
    }

    /// Behind the names of section and layer, so that a server can report arrivals.
    @Test(.enabled(if: getuid() == 0, "only root can make networks"))
    func packetsOfAllLayersAreNumbered() throws {
      let network = try NetworkNamespace()
      let janus = try network.startJanus(in: root)
      let server = try WebServer(
        "janus_whip.py", ["http://127.0.0.1:8088/janus", "layers=yes"], in: network,
        on: "127.0.0.1")
      let listener = try network.start("/usr/bin/python3", [tool("rtp_extensions.py"), "5"])
      try listener.waitForOutput("listening")
      let capture = try capture()
      let upload = try network.start(
        pathOfProgram("framebus"),
        ["upload", "whip:\(server.address("whip"))", "--root", root.path, "--simulcast"])
      try waitUntil("a picture: \(upload.transcript)") { !server.lines("frame ").isEmpty }
      func allPackets() -> [[Substring]] {
        listener.output.text.split(separator: "\n").filter { $0.hasPrefix("packet ") }
          .map { $0.split(separator: " ") }.filter { $0.count == 4 }
      }
      func packets() -> [[Substring]] { allPackets().filter { $0[3].hasPrefix("1,2") } }
      try waitUntil("packets: \(upload.transcript)") { packets().count > 300 }
      // The first may leave before the answer is read. Janus forwards each, with its extensions.
      let found = packets().prefix(300)
      #expect(found.count { $0[3] != "1,2,5" } <= 6, "\(found.prefix(10))")
      #expect(Set(found.map { $0[1] }).count >= 3)
      // Retransmitted packets are numbered, too; they name their layer in another extension.
      let numbered = allPackets().filter { $0[3].split(separator: ",").contains("5") }
      let numbers = Set(numbered.compactMap { Int($0[2]) }).sorted()
      let last = try #require(numbers.last)
      #expect(numbers.count > 100 && numbers.count * 100 >= (last + 1) * 95, "\(numbers)")
      for program in [upload, capture] { try program.end(with: SIGTERM) }
      try listener.end(with: SIGKILL)
      try janus.end(with: SIGINT)
    }

    /// aiortc ignores the layers, so its answer does not take them.
    @Test func endpointWithoutSimulcastGetsOneSize() throws {
      let server = try WebServer("whip_server.py", ["0"])
      let capture = try capture()
      let upload = try RunningProgram(
        "framebus",
        ["upload", "whip:\(server.address("whip"))", "--root", root.path, "--simulcast"])
      try server.waitForFrames(30)
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      let said = result.errors.components(separatedBy: "the endpoint takes no simulcast")
      #expect(said.count == 2 && !result.errors.contains("trying again"), "\(result.errors)")
      #expect(server.lines("frame ").allSatisfy { $0.hasSuffix("640x480") })
      try capture.end(with: SIGTERM)
    }

    @Test func offerNamesItsLayersAndTheAnswerTakesThemOrNot() {
      let name = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
      let plain = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:video0\r\n"
      #expect(SessionDescription.namingLayers(in: plain) == plain)
      let offer = SessionDescription.namingLayers(in: plain + "a=extmap:2 \(name)\r\n")
      for line in ["a=rid:h send", "a=rid:m send", "a=rid:l send", "a=simulcast:send h;m;l"] {
        #expect(offer.components(separatedBy: line + "\r\n").count == 2, "\(offer)")
      }
      let taken = SessionDescription(plain + "a=simulcast:recv h;m;l\r\n")
      #expect(taken.takesLayers(of: SessionDescription(offer)))
      #expect(!SessionDescription(plain).takesLayers(of: SessionDescription(offer)))
      #expect(SessionDescription(plain).takesLayers(of: SessionDescription(plain)))
    }

    @Test func layersAreRefusedForSeveralDestinations() throws {
      let result = try run(
        "framebus",
        [
          "upload", "whip:http://127.0.0.1:9/x", "file:\(root.file("a.mkv"))", "--simulcast",
          "--root", root.path,
        ])
      #expect(result.status == .exited(2) && result.errors.contains("--simulcast"))
    }
  }
#endif
