#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Uploads to servers on this machine, which differ in the addresses that they use for media.
  @Suite(.serialized) struct ThisMachineTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func capture() throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["capture", "test", "--size", "640x360", "--root", root.path])
    }

    private func upload(to address: String, _ more: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["upload", "whip:\(address)", "--root", root.path] + more)
    }

    /// As servers on libnice do, such as Janus, and as others do that listen on IPv6.
    @Test(arguments: ["others", "::1"])
    func serverReceivesAtTheAddressesOfItsChoice(media: String) throws {
      try withWatchdog {
        let cable = try media == "others" ? NetworkNamespace() : nil
        let server = try WebServer(
          "whip_server.py", ["0", "media=\(cable?.machineAddress ?? media)"])
        let capture = try capture()
        let upload = try upload(to: server.address("whip"))
        try server.waitForFrames(20)
        let result = try upload.end(with: SIGTERM)
        #expect(result.status == .exited(0) && !result.errors.contains("trying again"))
        let offered = server.lines("fragment a=candidate:").joined()
        #expect(offered.contains(" 127.0.0.1 ") && offered.contains(" ::1 "), "\(offered)")
        try capture.end(with: SIGTERM)
      }
    }

    @Test func errorNamesTheAddressesThatWereTried() throws {
      try withWatchdog {
        let server = try WebServer("whip_server.py", ["0", "media="])
        let capture = try capture()
        let upload = try upload(to: server.address("whip"))
        let reason = "answered, but no media connection was established within 3 s (tried from "
        try upload.waitForErrors(reason)
        let errors = upload.errors.text
        #expect(errors.contains("127.0.0.1"), "\(errors)")
        #expect(errors.contains("to nowhere, as its answer names no address)"), "\(errors)")
        try server.program.waitForOutput("DELETE 200")
        _ = try upload.end(with: SIGTERM)
        let probe = try run("framebus", ["whip", "probe", server.address("whip")])
        #expect(probe.output.contains("addresses: its answer names none"), "\(probe.output)")
        try capture.end(with: SIGTERM)
      }
    }

    /// Its signalling is on loopback, and its media never are.
    @Test(.enabled(if: getuid() == 0, "only root can make networks"))
    func janusBesideTheUploadAcceptsIt() throws {
      let network = try NetworkNamespace()
      let janus = try network.startJanus(in: root)
      let server = try WebServer(
        "janus_whip.py", ["http://127.0.0.1:8088/janus"], in: network, on: "127.0.0.1")
      let capture = try capture()
      let upload = try network.start(
        pathOfProgram("framebus"),
        ["upload", "whip:\(server.address("whip"))", "--root", root.path])
      try server.waitForFrames(20)
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try capture.end(with: SIGTERM)
      try janus.end(with: SIGINT)
    }
  }
#endif
