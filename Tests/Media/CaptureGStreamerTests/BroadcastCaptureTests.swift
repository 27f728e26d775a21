#if Media
  import Foundation
  import FrameBus
  import Platform
  import TestSupport
  import Testing

  /// A stream of another machine as the source of a broadcast: its capture has the network and the
  /// secret that the user named, and nothing of this machine.
  @Suite struct BroadcastCaptureTests {
    private let bench: NetworkBench

    init() throws {
      bench = try NetworkBench()
      try bench.register()
    }

    private func expectConfinedPictures(of host: RunningProgram) throws {
      var pictures = try bench.subscriber()
      #expect(try pictures.takeSize() == "320x240", "\(host.transcript)")
      let status = try output(
        of: "framebus", ["broadcast", "status", "--json", "--root", bench.root.path])
      let isConfined = status.contains(/"capture" : \{\s*"confinement" : "on/)
      #expect(isConfined, "\(status)\(host.transcript)")
    }

    @Test func captureOfABroadcastIsConfined() throws {
      try withWatchdog {
        let port = try bench.port()
        let server = try bench.srtServer(port, NetworkBench.encoder("320x240"))
        let host = try bench.broadcast("srt://127.0.0.1:\(port)")
        try expectConfinedPictures(of: host)
        _ = try host.end(with: Signal.interrupt)
        try server.end(with: Signal.kill)
      }
    }

    @Test(arguments: ["srt", "rtmp", "rtsp", "whep"])
    func captureReceivesTheSecretOfItsServer(kind: String) throws {
      try withWatchdog {
        let secret = "canary-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
        // The role capture alone could not open it.
        try bench.seal(secret, "\(kind).example.com", "ann", for: "extension")
        let folder = try TemporaryRoot()
        let (address, servers) = try server(of: kind, secret, in: folder)
        let host = try bench.broadcast(address, "--secret", "\(kind).example.com/ann")
        try expectConfinedPictures(of: host)
        // A capture that dies receives it again.
        let capture = try #require(try bench.processOfCapture())
        #expect(kill(capture, SIGKILL) == 0)
        try waitUntil("another capture runs: \(host.transcript)") {
          try bench.processOfCapture().map { $0 != capture } ?? false
        }
        try expectConfinedPictures(of: host)
        let (processID, log) = (try #require(try bench.processOfCapture()), try bench.log())
        let arguments = try bench.argumentsOfPrograms()
        let environment = try Data(contentsOf: URL(filePath: "/proc/\(processID)/environ"))
        #expect(!environment.isEmpty && environment.range(of: Data(secret.utf8)) == nil)
        #expect(log.contains("decodebin"), "the log has no lines of GStreamer")
        #expect(arguments.contains("--secret=\(kind).example.com/ann"))
        let result = try host.end(with: Signal.interrupt)
        for text in [arguments, log, result.errors, result.output] {
          #expect(!text.contains(secret))
        }
        #expect(try !bench.contains(secret))
        for program in servers { try program.end(with: Signal.kill) }
      }
    }

    private func server(
      of kind: String, _ secret: String, in folder: TemporaryRoot
    ) throws -> (address: String, programs: [RunningProgram]) {
      let port = try bench.port()
      switch kind {
      case "srt":
        let server = try bench.srtServer(
          port, NetworkBench.encoder("320x240"), parameters: "&passphrase=\(secret)&pbkeylen=16")
        return ("srt://127.0.0.1:\(port)", [server])
      case "rtmp":
        let server = try bench.nginx(port, in: folder)
        let sender = try bench.rtmpSender("rtmp://127.0.0.1:\(port)/live/\(secret)", "320x240")
        try server.waitForOutput("publish: name='\(secret)'")
        return ("rtmp://127.0.0.1:\(port)/live", [sender, server])
      case "rtsp":
        return (
          "rtsp://127.0.0.1:\(port)/cam", [try bench.rtspServer(port, "user=ann:\(secret)")]
        )
      default:
        return (
          "whep:http://127.0.0.1:\(port)/whep", [try bench.whepServer(port, "token=\(secret)")]
        )
      }
    }

    /// The manifest of an extension may name the credential, and the user's option counts more.
    @Test func manifestNamesTheSecret() throws {
      try withWatchdog {
        let passphrase = "passphrase-of-the-camera"
        try bench.seal(passphrase, "srt", "cam", for: "extension")
        try bench.seal("another-passphrase", "srt", "other", for: "extension")
        try bench.register("[capture]\nsecret = \"srt/cam\"")
        let port = try bench.port()
        let server = try bench.srtServer(
          port, NetworkBench.encoder("320x240"),
          parameters: "&passphrase=\(passphrase)&pbkeylen=16")
        let address = "srt://127.0.0.1:\(port)"
        let wrong = try bench.broadcast(
          address, "--secret", "srt/other", "--restarts", "0"
        ).finish()
        #expect(wrong.status == .exited(1))
        #expect(wrong.errors.contains("the passphrase is wrong"), "\(wrong.errors)")
        let host = try bench.broadcast(address)
        try expectConfinedPictures(of: host)
        _ = try host.end(with: Signal.interrupt)
        try server.end(with: Signal.kill)
      }
    }

    @Test func missingCredentialIsAnErrorOfTheStart() throws {
      try withWatchdog {
        try bench.seal("unused-passphrase", "srt", "cam", for: "extension")
        let host = try bench.broadcast("srt://127.0.0.1:9", "--secret", "srt/none").finish()
        #expect(host.status == .exited(1))
        #expect(host.errors.contains("srt/none"), "\(host.errors)")
        let status = try run("framebus", ["broadcast", "status", "--root", bench.root.path])
        #expect(!status.output.contains("live"), "\(status.output)")
      }
    }
  }

  extension NetworkBench {
    private static let idle = "dev.example.idle"

    /// An extension that does nothing, which each test of the capture needs.
    fileprivate func register(_ more: String = "") throws {
      let manifest = root.file("idle.toml")
      try """
      version = 1
      id = "\(Self.idle)"
      executable = "/bin/sleep"
      arguments = ["600"]
      \(more)
      """.write(toFile: manifest, atomically: true, encoding: .utf8)
      try output(of: "framebus", ["extension", "register", manifest, "--root", root.path])
    }

    fileprivate func broadcast(_ source: String, _ options: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus",
        ["broadcast", "start", Self.idle, "--yes", "--source", source, "--root", root.path]
          + options,
        environment: ["FRAMEBUS_GROUP": nil, "FRAMEBUS_LOG_LEVEL": "trace"])
    }

    /// - Returns: nil while none runs.
    fileprivate func processOfCapture() throws -> Int32? {
      let text = try output(
        of: "framebus", ["broadcast", "status", "--json", "--root", root.path])
      return text.firstMatch(of: /"capture" : \{[^}]*"pid" : ([0-9]+)/).flatMap { Int32($0.1) }
    }

    fileprivate func log() throws -> String {
      try output(of: "framebus", ["log", "--level", "trace", "--root", root.path])
    }

    fileprivate func argumentsOfPrograms() throws -> String {
      try output(of: "ps", ["-e", "-o", "args"]).split(separator: "\n")
        .filter { $0.contains("framebus") }.joined(separator: "\n")
    }
  }
#endif
