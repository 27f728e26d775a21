#if Media
  import Foundation
  import TestSupport
  import Testing

  /// `framebus view --listen systemd`: the page at a socket that listens before the program runs.
  @Suite struct PassedSocketTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func view(_ kind: String) throws -> RunningProgram {
      try RunningProgram(
        "/usr/bin/python3",
        [tool("pass_socket.py"), kind, try pathOfProgram("framebus"), "view", "--listen=systemd"],
        environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil])
    }

    @Test func socketOfTheServiceManagerIsServed() throws {
      try withWatchdog {
        let view = try view("tcp")
        try view.waitForOutput("/\n", within: .seconds(120))
        let lines = view.output.text.split(separator: "\n")
        let url = try #require(lines.last)
        #expect(url.hasPrefix("http://127.0.0.1:\(lines[0])/"), "\(url)")
        for _ in 0..<2 {
          let page = try run("curl", ["-s", "-w", "%{http_code}", String(url)])
          #expect(page.output.hasSuffix("200") && page.output.contains("<html"), "\(page)")
        }
        try view.end(with: SIGTERM)
      }
    }

    @Test(arguments: ["closed", "udp", "unix", "two", "other"])
    func anythingElseIsRefused(kind: String) throws {
      try withWatchdog {
        let result = try view(kind).finish()
        #expect(result.status == .exited(2), "\(result.status)")
        #expect(result.errors.contains("--listen systemd: systemd has passed no TCP socket"))
      }
    }

    @Test func withoutASocketItIsRefused() throws {
      let result = try run(
        "framebus", ["view", "--listen=systemd"], environment: ["FRAMEBUS_HOME": root.path])
      #expect(result.status == .exited(2), "\(result.errors)")
    }
  }
#endif
