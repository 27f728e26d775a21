#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// `framebus extension register --builtin` with the options of `framebus upload`.
  @Suite struct RegisterTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func framebus(_ arguments: [String]) throws -> ProgramResult {
      try run("framebus", ["--root", root.path] + arguments)
    }

    private func register(_ arguments: String...) throws -> ProgramResult {
      try framebus(["extension", "register", "--id", "up", "--builtin"] + arguments)
    }

    /// The server has a certificate of its own, and only VP8.
    @Test func registeredOptionsReachUploader() throws {
      try withWatchdog {
        let folder = try TemporaryRoot()
        let own = try TestCertificate(for: "localhost", in: folder)
        let server = try WebServer(
          "whip_server.py", ["0", "tls=\(own.certificate),\(own.key)", "codec=VP8"],
          isEncrypted: true)
        let registered = try register(
          "whip:\(server.address("whip", host: "localhost"))", "--ca", own.certificate,
          "--encoder", "vp8", "--bitrate", "700k", "--least-bitrate", "200k", "--samples", "video",
          "--retry-for", "30", "--lost-after", "20",
          "--memory-limit-mb", "900", "--turn", "turn:127.0.0.1:9", "--turn-credential", "turn/me")
        #expect(registered.status == .exited(0), "\(registered.errors)")
        let shown = try framebus(["extension", "show", "up"]).output
        for line in [
          #""--retry-for=30.0", "--lost-after=20.0""#, #"samples = ["video"]"#,
          #"credentials = ["turn/me"]"#, "memory-limit-mb = 900",
          #"reads = ["\#(own.certificate)"]"#,
        ] {
          #expect(shown.contains(line), "\(shown)")
        }
        try root.seal("unused", "turn", "me")
        let host = try RunningProgram(
          "framebus",
          [
            "--root", root.path, "broadcast", "start", "up", "--yes", "--source", "test", "--size",
            "320x240",
          ])
        try server.waitForFrames(10)
        #expect(try framebus(["broadcast", "stop"]).status == .exited(0))
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }

    @Test(
      arguments: [
        (["whip:https://h/x", "--encoder", "theora"], "no encoder “theora”"),
        (["whip:https://h/x", "--bitrate", "5"], "is not a bitrate"),
        (["whip:https://h/x", "--least-bitrate", "x"], "is not a bitrate"),
        (["whip:https://h/x", "--profile", "main"], "use baseline or high"),
        (["whip:https://h/x", "--turn", "http://h"], "is not an ICE server"),
        (["whip:https://h/x", "--ca", "/none"], "--ca /none"),
        (["whip:https://h/x", "--secret", "a/b"], "use --credential"),
        (["whip:http://192.0.2.1/x"], "is not encrypted"),
        (["whip:ftp://h/x"], "is not the address of a WHIP endpoint"),
        (["file:out.unknown"], "cannot determine the container"),
        (["file:out.mp4", "--encoder", "vp8"], "does not take"),
        (["file:out.mkv", "--stun", "stun:h"], "--stun has no effect with file:"),
        (["null", "--bitrate", "4M"], "--bitrate has no effect with null:"),
        (["file:out.mkv", "--retry-for", "3"], "--retry-for has no effect with file:"),
        (["srt://h:1", "--lost-after", "3"], "--lost-after has no effect with srt:"),
        (["srt://h:1?passphrase=0123456789"], "a secret in an address"),
        (["null", "--samples", "video,smell"], "--samples video,smell: use some of"),
        (["null", "--memory-limit-mb", "0"], "memory-limit-mb is not a whole number"),
        (["null", "--stream", "other"], "--stream"),
        (["null", "--duration", "3"], "--duration"),
      ])
    func optionsThatCannotWorkAreRefused(arguments: [String], reason: String) throws {
      let result = try framebus(["extension", "register", "--builtin"] + arguments)
      #expect(result.status == .exited(2) && result.errors.contains(reason), "\(result.errors)")
      #expect(try framebus(["extension", "list"]).output.isEmpty)
    }

    @Test func plainHTTPIsRegisteredIfAllowed() throws {
      let result = try register("whip:http://192.0.2.1/x", "--allow-http")
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(try framebus(["extension", "list"]).output.contains("--allow-http"))
    }
  }
#endif
