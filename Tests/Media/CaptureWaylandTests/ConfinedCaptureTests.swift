import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Broadcasts of a Wayland session: the capture has the compositor's socket, and nothing else.
@Suite struct ConfinedCaptureTests {
  @Test(arguments: [
    ["--source", "wayland"], ["--source", "wayland-window:fake-1"],
    ["--source", "screen", "--no-protect"],
  ])
  func broadcastIsConfinedAndHasFrames(source: [String]) throws {
    try withFake("ext=1") { fake in
      let host = try broadcast(source, of: fake)
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      let status = try output(of: "framebus", ["broadcast", "status", "--json"] + fake.location)
      let isConfined = status.contains(/"capture" : \{\s*"confinement" : "on/)
      #expect(isConfined, "\(status)\(host.transcript)")
      _ = try host.end(with: SIGINT)
    }
  }

  /// Its consent would name marked windows as black.
  @Test func broadcastOfTheScreenThatProtectsWindowsIsRefused() throws {
    try withFake { fake in
      let host = try broadcast(["--source", "screen", "--restarts", "0"], of: fake)
      #expect(try !host.finish().status.isSuccess)
      let log = try output(of: "framebus", ["log"] + fake.location)
      #expect(log.contains("name the source wayland"), "\(log)\(host.transcript)")
    }
  }

  /// Starts a broadcast whose extension does nothing: what matters is the capture.
  private func broadcast(_ options: [String], of fake: FakeSession) throws -> RunningProgram {
    let manifest = fake.root.file("idle.toml")
    try """
    version = 1
    id = "dev.example.idle"
    executable = "/bin/sleep"
    arguments = ["600"]
    """.write(toFile: manifest, atomically: true, encoding: .utf8)
    try output(of: "framebus", ["extension", "register", manifest] + fake.location)
    return try RunningProgram(
      "framebus", ["broadcast", "start", "dev.example.idle", "--yes"] + options + fake.location,
      environment: fake.environment.merging(["PULSE_SERVER": "unix:/none"]) { $1 })
  }
}
