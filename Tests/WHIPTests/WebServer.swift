#if Media
  import Foundation
  import Platform
  import TestSupport

  /// One of the servers in Tests/Tools, on a port of its own choice.
  final class WebServer: Sendable {
    let program: RunningProgram
    let port: Int
    private let scheme: String

    init(_ name: String, _ arguments: [String] = [], isEncrypted: Bool = false) throws {
      program = try RunningProgram("/usr/bin/python3", [tool(name)] + arguments)
      try program.waitForOutput("\n")
      let words = program.output.text.split { $0 == " " || $0 == "\n" }
      guard words.count > 1, let port = Int(words[1]) else {
        throw HarnessError("\(name) names no port: \(program.transcript)")
      }
      self.port = port
      scheme = isEncrypted ? "https" : "http"
    }

    func address(_ path: String, host: String = "127.0.0.1") -> String {
      "\(scheme)://\(host):\(port)/\(path)"
    }

    /// The lines it wrote that begin so.
    func lines(_ prefix: String) -> [String] {
      program.output.text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
    }

    /// What the server, and aiohttp within it, said of each frame that it decoded.
    var frameNumbers: [Int] {
      lines("frame ").compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
    }

    /// What it measured of each second of sound.
    var pitches: [Double] {
      lines("sound ").compactMap {
        $0.split(separator: " ").dropFirst().first.flatMap { Double($0) }
      }
    }

    func waitForFrames(_ count: Int) throws {
      let deadline = Deadline.after(.seconds(100))
      while frameNumbers.count < count {
        guard !deadline.isPast else {
          throw HarnessError("waited for \(count) frames\n\(program.transcript)")
        }
        sleep(until: .after(.milliseconds(20)))
      }
    }
  }

  /// coturn, on a port of this machine alone.
  final class Relay: Sendable {
    let address: String
    private let program: RunningProgram
    private let root: TemporaryRoot

    init(user: String, password: String) throws {
      root = try TemporaryRoot()
      let free =
        "import socket as s; p = s.socket(s.AF_INET, s.SOCK_DGRAM); "
        + "p.bind(('127.0.0.1', 0)); print(p.getsockname()[1], end='')"
      let port = try output(of: "/usr/bin/python3", ["-c", free])
      address = "turn:127.0.0.1:\(port)?transport=udp"
      program = try RunningProgram(
        "turnserver",
        [
          "-n", "--listening-ip", "127.0.0.1", "--listening-port", port, "--relay-ip", "127.0.0.1",
          "--user", "\(user):\(password)", "--realm", "test", "--lt-cred-mech", "--no-tls",
          "--no-dtls", "--allow-loopback-peers", "--no-cli", "--log-file", "stdout",
          "--simple-log", "--pidfile", root.file("pid"), "--userdb", root.file("users"),
        ], directory: root.path)
      try program.waitForOutput("IO method (admin thread)")
    }
  }

  /// A certificate for a name, and its key, as files.
  struct TestCertificate {
    let certificate: String
    let key: String

    init(for name: String, in root: TemporaryRoot) throws {
      certificate = root.file("\(name).pem")
      key = root.file("\(name).key")
      try output(
        of: "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
          "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=\(name)", "-addext",
          "subjectAltName=DNS:\(name)",
        ])
    }
  }
#endif
