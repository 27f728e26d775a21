#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Broadcasts with sound by a confined extension, to a WebRTC stack that is independent of this
  /// project.
  @Suite struct ConfinedTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func framebus(_ arguments: String...) throws -> ProgramResult {
      try run("framebus", ["--root", root.path] + arguments)
    }

    /// Broadcasts until the server has decoded pictures in order and received the tone.
    private func broadcast(_ identifier: String, to server: WebServer) throws {
      let host = try RunningProgram(
        "framebus",
        [
          "--root", root.path, "broadcast", "start", identifier, "--yes", "--source", "test",
          "--size", "320x240", "--app-source", "tone:440",
        ])
      try server.waitForFrames(30)
      try server.waitForPitch(440)
      let status = try framebus("broadcast", "status").output
      #expect(status.components(separatedBy: ", confined: on").count == 3, "\(status)")
      let stopped = try framebus("broadcast", "stop")
      #expect(stopped.status == .exited(0), "\(stopped.errors)")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      try server.program.waitForOutput("DELETE 200")
      #expect(server.lines("POST").last == "POST 201")
      #expect(zip(server.frameNumbers, server.frameNumbers.dropFirst()).allSatisfy { $0 <= $1 })
    }

    /// The server refuses requests without the bearer token.
    @Test func builtInUploaderSendsHandedOverBearer() throws {
      try withWatchdog {
        try root.seal("s3cret-token", "live.example.com", "studio")
        let server = try WebServer("whip_server.py", ["0", "token=s3cret-token"])
        let registered = try framebus(
          "extension", "register", "--builtin", "whip:\(server.address("whip", host: "localhost"))",
          "--id", "up", "--credential", "live.example.com/studio")
        #expect(registered.status == .exited(0), "\(registered.errors)")
        try broadcast("up", to: server)
      }
    }

    @Test func certificateFileAllowedByManifestIsTrusted() throws {
      try withWatchdog {
        let folder = try TemporaryRoot()
        let own = try TestCertificate(for: "localhost", in: folder)
        let server = try WebServer(
          "whip_server.py", ["0", "tls=\(own.certificate),\(own.key)"], isEncrypted: true)
        let arguments = [
          "whip:\(server.address("whip", host: "localhost"))", "--ca=\(own.certificate)",
        ]
        let manifest = folder.file("up.toml")
        try """
        version = 1
        id = "up"
        executable = "\(try pathOfProgram("framebus-upload"))"
        arguments = \(arguments)
        samples = ["video", "audio-app"]
        reads = ["\(own.certificate)"]
        """.write(toFile: manifest, atomically: true, encoding: .utf8)
        let registered = try framebus("extension", "register", manifest)
        #expect(registered.status == .exited(0), "\(registered.errors)")
        try broadcast("up", to: server)
      }
    }
  }
#endif
