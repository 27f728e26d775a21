#if Media
  import Platform
  import TestSupport

  /// coturn, on a loopback port, for UDP and TCP.
  final class Relay: Sendable {
    static let user = "studio"
    static let password = "pa:ss/word-77"

    var port: String { "\(held.number)" }
    private let held: OwnPort
    private let program: RunningProgram
    private let root: TemporaryRoot

    init() throws {
      root = try TemporaryRoot()
      held = try OwnPort()
      program = try RunningProgram(
        "turnserver",
        [
          "-n", "--listening-ip", "127.0.0.1", "--listening-port", "\(held.number)",
          "--relay-ip", "127.0.0.1",
          "--user", "\(Self.user):\(Self.password)", "--realm", "test", "--lt-cred-mech",
          "--no-tls", "--no-dtls", "--allow-loopback-peers", "--no-cli", "--log-file", "stdout",
          "--simple-log", "--pidfile", root.file("pid"), "--userdb", root.file("users"),
        ], directory: root.path)
      try program.waitForOutput("IO method (admin thread)")
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
