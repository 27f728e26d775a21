#if Media
  import Foundation
  import Platform
  import TestSupport

  /// One of the servers in Tests/Tools, on a port that it chooses, on this machine or in a network
  /// namespace.
  final class WebServer: Sendable {
    let program: RunningProgram
    let port: Int
    private let scheme: String
    private let usualHost: String

    /// - Parameter host: where it listens; by default on the network's link, or else on loopback.
    init(
      _ name: String, _ arguments: [String] = [], isEncrypted: Bool = false,
      in network: NetworkNamespace? = nil, on host: String? = nil
    ) throws {
      usualHost = host ?? network?.address ?? "127.0.0.1"
      let command = [tool(name)] + arguments
      if let network {
        program = try network.start(
          "/usr/bin/python3", command + ["address=\(usualHost)"])
      } else {
        program = try RunningProgram("/usr/bin/python3", command)
      }
      try program.waitForOutput("\n")
      let words = program.output.text.split { $0 == " " || $0 == "\n" }
      guard words.count > 1, let port = Int(words[1]) else {
        throw HarnessError("\(name) names no port: \(program.transcript)")
      }
      self.port = port
      scheme = isEncrypted ? "https" : "http"
    }

    func address(_ path: String, host: String? = nil) -> String {
      "\(scheme)://\(host ?? usualHost):\(port)/\(path)"
    }

    /// The lines of its output that have a prefix.
    func lines(_ prefix: String) -> [String] {
      program.output.text.completeLines(prefix).map(String.init)
    }

    /// What the server, and aiohttp within it, said of each frame that it decoded.
    var frameNumbers: [Int] { Self.numbers("frame ", in: program.output.text) }

    func waitForFrames(_ count: Int) throws {
      try wait(for: "\(count) frames") {
        // The rest is work for each line of output.
        $0.completeLines("frame ").count >= count
          && Self.numbers("frame ", in: $0, as: Int.self).count >= count
      }
    }

    /// Waits for a second of sound with a pitch, within 1 Hz.
    func waitForPitch(_ hertz: Double) throws {
      try wait(for: "\(hertz) Hz") { text in
        Self.numbers("sound ", in: text).contains { abs($0 - hertz) < 1 }
      }
    }

    private func wait(for what: String, _ isThere: (String) -> Bool) throws {
      guard program.output.wait(until: .after(.seconds(200)), for: isThere) else {
        throw HarnessError("waited for \(what)\n\(program.transcript)")
      }
    }

    /// The first number of each line that has a prefix.
    private static func numbers<Number: LosslessStringConvertible>(
      _ prefix: String, in text: String, as type: Number.Type = Number.self
    ) -> [Number] {
      text.completeLines(prefix).compactMap { line in
        line.split(separator: " ").dropFirst().first.flatMap { Number(String($0)) }
      }
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
