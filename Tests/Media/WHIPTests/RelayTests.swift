#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Uploads through other servers: media go only through a relay (coturn, with a TLS server in
  /// front of it), or the uploader learns its address by STUN.
  @Suite(.serialized) struct RelayTests {
    private let root: TemporaryRoot
    private let relay: Relay
    private let front: WebServer
    private let certificate: TestCertificate

    init() throws {
      root = try TemporaryRoot()
      relay = try Relay()
      certificate = try TestCertificate(for: "localhost", in: root)
      front = try WebServer(
        "tls_front.py", ["0", "\(certificate.certificate),\(certificate.key)", relay.port])
    }

    private var environment: [String: String?] {
      ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil]
    }

    /// A server whose answers recommend the relay.
    private func server(recommending address: String) throws -> WebServer {
      let link =
        "<\(address)>; rel=\"ice-server\"; username=\"\(Relay.user)\"; "
        + "credential=\"\(Relay.password)\""
      try Data(link.utf8).write(to: URL(filePath: root.file("links")))
      return try WebServer("whip_server.py", ["0", "links=\(root.file("links"))"])
    }

    private func capture() throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["capture", "test", "--size", "320x240", "--fps", "30"],
        environment: environment)
    }

    private func upload(to server: WebServer, _ more: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus",
        ["upload", "whip:\(server.address("whip"))", "--relay-only", "--verbose"] + more,
        environment: environment)
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func endpointLearnsSTUNAddress(host: String) throws {
      let stun = try WebServer("stun_server.py", ["0", "203.0.113.7"])
      let server = try WebServer("whip_server.py", ["0"])
      let capture = try capture()
      let upload = try RunningProgram(
        "framebus",
        ["upload", "whip:\(server.address("whip"))", "--stun", "stun:\(host):\(stun.port)"],
        environment: environment)
      try server.waitForFrames(10)
      try server.program.waitForOutput(" 203.0.113.7 ")
      #expect(try upload.end(with: SIGTERM).status == .exited(0))
      try capture.end(with: SIGTERM)
      let recorded = server.lines("fragment a=candidate:").filter { $0.contains(" 203.0.113.7 ") }
      #expect(
        !recorded.isEmpty && recorded.allSatisfy { $0.contains(" typ srflx ") }, "\(recorded)")
    }

    private func expectOnlyRelayed(_ server: WebServer) {
      let candidates = server.lines("fragment a=candidate:")
      #expect(!candidates.isEmpty && candidates.allSatisfy { $0.contains(" typ relay ") })
    }

    @Test(arguments: RelayWay.allCases)
    func mediaFlowThroughRecommendedRelay(way: RelayWay) throws {
      let server = try server(recommending: way.address(of: relay, tlsPort: front.port))
      let capture = try capture()
      let upload = try upload(to: server, "--ca", certificate.certificate)
      try server.waitForFrames(30)
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0) && !result.errors.contains(Relay.password))
      try capture.end(with: SIGTERM)
      expectOnlyRelayed(server)
      #expect(front.lines("tls").isEmpty == (way != .tls))
    }

    @Test func mediaFlowThroughRelayNamedByUser() throws {
      try root.seal(Relay.password, "turn.example.com", Relay.user)
      let server = try WebServer("whip_server.py", ["0"])
      let capture = try capture()
      let upload = try upload(
        to: server, "--turn", "turn:127.0.0.1:\(relay.port)?transport=udp", "--turn-credential",
        "turn.example.com/\(Relay.user)")
      try server.waitForFrames(30)
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0) && !result.errors.contains(Relay.password))
      try capture.end(with: SIGTERM)
      expectOnlyRelayed(server)
    }

    @Test func wrongPasswordOfRelayIsNamedAsTheCause() throws {
      try root.seal("wrong", "turn.example.com", Relay.user)
      let server = try WebServer("whip_server.py", ["0"])
      let capture = try capture()
      let turn = "turn:127.0.0.1:\(relay.port)?transport=udp"
      let upload = try upload(
        to: server, "--turn", turn, "--turn-credential", "turn.example.com/\(Relay.user)",
        "--retry-for", "0")
      let result = try upload.finish()
      #expect(result.status == .exited(1))
      let said = "(tried from no address to 127.0.0.1); \(turn) gave no address for the media"
      #expect(result.errors.contains(said), "\(result.errors)")
      try capture.end(with: SIGTERM)
    }

    /// An upload that may use only a relay, and has none that works.
    @Test(
      arguments: [
        ("turns:localhost:PORT", "its certificate is not trusted"),
        ("turns:127.0.0.1:PORT", "its certificate is not trusted"),
        ("turns:localhost:PORT?transport=udp", "is not supported; use ?transport=tcp"),
        ("turns:localhost:1", "cannot connect ("),
        // The name is too long for a DNS query.
        ("turn:\(String(repeating: "a", count: 70))", "its name cannot be resolved"),
      ])
    func unusableRelayIsReported(address: String, reason: String) throws {
      let address = address.replacing("PORT", with: "\(front.port)")
      let server = try server(recommending: address)
      let capture = try capture()
      // The certificate is valid, but for another name.
      let upload =
        address.contains("127.0.0.1")
        ? try upload(to: server, "--ca", certificate.certificate) : try upload(to: server)
      #expect(upload.errors.wait(until: .after(.seconds(100))) { $0.contains(reason) })
      #expect(upload.errors.text.contains("going on without turn"), "\(upload.errors.text)")
      _ = try upload.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      #expect(server.lines("frame ").isEmpty)
    }
  }

  /// A transport to a relay.
  enum RelayWay: CaseIterable {
    case udp, tcp, udpByName, tcpByName, tls

    func address(of relay: Relay, tlsPort: Int) -> String {
      switch self {
      case .udp: "turn:127.0.0.1:\(relay.port)?transport=udp"
      case .tcp: "turn:127.0.0.1:\(relay.port)?transport=tcp"
      case .udpByName: "turn:localhost:\(relay.port)?transport=udp"
      case .tcpByName: "turn:localhost:\(relay.port)?transport=tcp"
      case .tls: "turns:localhost:\(tlsPort)"
      }
    }
  }
#endif
