import AppGroup
import Broadcast
import CredentialStore
import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

/// During a broadcast, only the extension has the token.
@Suite struct SecretTests {
  private let token = "canary-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
  private let name = "whip.example.com/studio"

  @Test(
    .enabled(
      if: ProcessFacts.readsProtectedMemory,
      "only root, if the kernel allows it, reads protected memory"))
  func tokenIsAbsentFromCaptureMemoryAndFromHostMemoryAfterSealing() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["credential=\(name)"], credentials: [name])
      let pipe = try OneWayPipe()
      try writeFully(Array(token.utf8), to: pipe.writeEnd.number)
      let input = try pipe.readEnd.duplicate()
      _ = pipe.takeWriteEnd()
      let host = try scene.hostProcess("seal=\(name)", inherited: [input.number])
      try scene.waitForTrace(["started 1", "credential \(token.utf8.count)", "video"])
      // The search finds the token in this process, which has it.
      #expect(try ProcessFacts.own.memoryHolds(token))
      try expectTokenIsAbsent(scene, host)
      // A restarted extension receives it again, from a host that had to open it.
      try scene.kill(.extension)
      try waitUntil("the second extension opened it, \(scene.trace)") {
        scene.trace.suffix(3)
          == ["started 2", "credential \(token.utf8.count)", "video"]
      }
      try expectTokenIsAbsent(scene, host)
      try scene.kill(.capture)
      try waitUntil("samples arrive again") { scene.trace.suffix(2) == ["resumed", "video"] }
      try expectTokenIsAbsent(scene, host)
      _ = try host.end(with: Signal.terminate)
      #expect(try scene.controller.status.ending == .finished)
      #expect(!host.transcript.contains(token))
    }
  }

  private func expectTokenIsAbsent(_ scene: BroadcastScene, _ host: RunningProgram) throws {
    let pids = try scene.controller.status.pids
    #expect(pids[.host] == host.processID)
    for role in [Role.host, .capture] {
      let pid = try #require(pids[role])
      #expect(try !ProcessFacts(pid).memoryHolds(token), "the \(role) has the token")
    }
    // Including programs that a role may have started for a short time.
    for process in try ProcessFacts.all {
      for file in ["cmdline", "environ"] {
        let text = process.shown(file)
        #expect(!text.contains(token), "\(file) of \(process.processID)")
        if pids.values.contains(process.processID) {
          #expect(!text.isEmpty, "\(file) of a role is readable")
        }
      }
    }
    let found = try run("grep", ["-r", "-l", "-a", token, scene.root.path])
    #expect(found.status == .exited(1), "\(found.output)")
    #expect(try !scene.log().contains { "\($0)".contains(token) })
  }
}
