import Platform

/// coturn, on a loopback port, for UDP and TCP.
package final class Relay: Sendable {
  package static let user = "studio"
  package static let password = "pa:ss/word-77"

  package var port: String { "\(held.number)" }
  private let held: OwnPort
  private let program: RunningProgram
  private let root: TemporaryRoot

  package init() throws {
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
