#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// The page at its default address, 127.0.0.1, on machines with and without a network.
  @Suite(.serialized, .enabled(if: getuid() == 0, "only root can make networks"))
  struct ThisMachineTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func capture(in network: OwnNetwork) throws -> RunningProgram {
      try network.start(
        "framebus", ["capture", "test", "--size", "320x240"],
        environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil])
    }

    /// Firefox pairs no loopback address with another one, and uses none of its own.
    @Test(arguments: ["firefox", "chromium"])
    func browserPlaysDefaultAddress(browser: String) throws {
      let neighbour = try OwnNetwork()
      let network = try OwnNetwork(cabledTo: neighbour)
      let view = try ViewProgram(root, ["--encoder=vp8"], in: network)
      let capture = try capture(in: network)
      let page = try BrowserPage(view.url, "browser=\(browser)", in: network)
      try page.waitForMovingPictures()
      try page.program.end(with: SIGTERM)
      let result = try view.program.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      try capture.end(with: SIGTERM)
    }

    @Test func browserWithoutNetworkIsToldWhatToDo() throws {
      let network = try OwnNetwork()
      let view = try ViewProgram(root, in: network)
      let capture = try capture(in: network)
      let page = try BrowserPage(view.url, in: network)
      try page.wait(for: "the reason") { $0.contains { $0.state == "No media connection" } }
      let advice = try #require(page.newest?.advice)
      #expect(advice.contains("offers no address"), "\(advice)")
      #expect(advice.contains("an address and a default route"), "\(advice)")
      try page.program.end(with: SIGTERM)
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    /// Its media use all addresses, but answer this machine alone.
    @Test func pageOnLoopbackOpensNoPortToTheNetwork() throws {
      let neighbour = try OwnNetwork()
      let network = try OwnNetwork(cabledTo: neighbour)
      let view = try ViewProgram(root, in: network)
      let answer = try view.answer(to: ViewTests.offer("H264"))
      let candidate = try #require(
        answer.firstMatch(of: /a=candidate:\S+ 1 UDP \d+ 10\.9\.8\.1 (\d+) typ host/))
      let name = try #require(answer.firstMatch(of: /a=ice-ufrag:(\S+)/)).output.1
      let password = try #require(answer.firstMatch(of: /a=ice-pwd:(\S+)/)).output.1
      let question = [
        tool("ask_stun.py"), OwnNetwork.address, String(candidate.output.1), "\(name):abcd",
        String(password),
      ]
      for (asker, expected) in [(network, "answer\n"), (neighbour, "silence\n")] {
        let asked = try asker.start("/usr/bin/python3", question).finish()
        #expect(asked.output == expected, "\(asked.output) \(asked.errors)")
      }
      try view.program.end(with: SIGTERM)
    }
  }
#endif
