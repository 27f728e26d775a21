#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Uploads over a network that loses some datagrams, or all for a while.
  @Suite(.serialized, .enabled(if: getuid() == 0, "only root can make networks"))
  struct LossTests {
    private let root: TemporaryRoot
    private let network: NetworkNamespace

    init() throws {
      root = try TemporaryRoot()
      network = try NetworkNamespace()
    }

    private func start(_ arguments: String...) throws -> RunningProgram {
      try RunningProgram("framebus", arguments + ["--root", root.path])
    }

    private func capture(
      _ size: String = "320x240", framesPerSecond: Int = 30
    ) throws -> RunningProgram {
      try start("capture", "test", "--size", size, "--fps", "\(framesPerSecond)")
    }

    private func upload(to server: WebServer, _ more: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus",
        ["upload", "whip:\(server.address("whip"))", "--allow-http", "--verbose"] + more
          + ["--root", root.path])
    }

    @Test func threePercentLossNeverFreezesPictureForASecond() throws {
      let server = try WebServer("whip_server.py", ["0"], in: network)
      try network.loseDatagrams(0.03)
      let capture = try capture(framesPerSecond: 60)
      let upload = try upload(to: server)
      try server.waitForFrames(600)
      try upload.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      // The first frames precede the connection.
      let numbers = server.frameNumbers.dropFirst(10)
      let steps = zip(numbers, numbers.dropFirst()).map { $1 - $0 }
      // Measured in the pattern's own time, because the machine may be busy.
      #expect(steps.allSatisfy { $0 > 0 && $0 < 60 }, "\(steps.filter { $0 > 1 })")
      #expect(!server.lines("rtx").isEmpty, "nothing was retransmitted")
    }

    /// What is lost once more is requested only a round trip later.
    @Test func lostPacketIsSentAgainTwiceIfArrivalsShowNoQueue() throws {
      let server = try WebServer("whip_server.py", ["0", "arrivals=yes"], in: network)
      try network.loseDatagrams(0.05)
      let capture = try capture("640x360")
      let upload = try upload(to: server)
      try waitUntil("retransmissions: \(upload.transcript)") { server.lines("rtx ").count >= 100 }
      try upload.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      let counts = Dictionary(grouping: server.lines("rtx ")) { $0 }.mapValues(\.count)
      // One of them may be lost too, and at the beginning nothing is known of the path.
      #expect(counts.values.count { $0 > 1 } > counts.count / 2, "\(counts)")
    }

    @Test func bitrateFallsWithLossAndRecovers() throws {
      let server = try WebServer("whip_server.py", ["0"], in: network)
      let capture = try capture("640x360")
      let upload = try upload(to: server)
      try server.waitForFrames(20)
      func rates() -> [Int] {
        upload.errors.text.split(separator: "\n").compactMap { line in
          guard line.contains("reports set the bitrate to") else { return nil }
          return line.split(separator: " ").dropLast().last.flatMap { Int($0) }
        }
      }
      try network.loseDatagrams(0.4)
      // Initially 640 · 360 · 3 bits a second.
      let wanted = 691
      func now() -> String { "\(upload.transcript)\n\(server.program.transcript)" }
      try waitUntil("the bitrate is halved: \(now())") { (rates().last ?? wanted) < wanted / 2 }
      try network.loseDatagrams(0)
      // By then there have been no retransmissions, and so no reports on them, for some time.
      try waitUntil("the bitrate has recovered: \(now())") { rates().last == wanted }
      #expect(server.lines("POST") == ["POST 201"], "\(now())")
      #expect(try upload.end(with: SIGTERM).status == .exited(0))
      try capture.end(with: SIGTERM)
    }

    @Test func uploadSurvivesNetworkOutage() throws {
      let server = try WebServer("whip_server.py", ["0"], in: network)
      let capture = try capture()
      let upload = try upload(to: server)
      try server.waitForFrames(20)
      try network.cut()
      try upload.waitForErrors("trying again")
      let before = server.frameNumbers.count
      try network.mend()
      try server.waitForFrames(before + 30)
      #expect(server.lines("POST") == ["POST 201", "POST 201"])
      #expect(try upload.end(with: SIGTERM).status == .exited(0))
      try capture.end(with: SIGTERM)
    }

    @Test func janusAcceptsUpload() throws {
      let janus = try network.startJanus(in: root)
      let server = try WebServer(
        "janus_whip.py", ["http://127.0.0.1:8088/janus"], in: network)
      let capture = try capture("640x360")
      let upload = try upload(to: server)
      try server.waitForFrames(40)
      let numbers = server.frameNumbers
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
      #expect(server.lines("frame ").allSatisfy { $0.hasSuffix("640x360") })
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try server.program.waitForOutput("DELETE 200")
      #expect(server.lines("POST") == ["POST 201"] && !server.lines("PATCH 204").isEmpty)
      try capture.end(with: SIGTERM)
      try janus.end(with: SIGINT)
    }
  }
#endif
