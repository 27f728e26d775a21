import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// `framebus credential run` as a host uses it, and the places where the secret must not be.
@Suite struct HandOverRunTests {
  private let world: CredentialWorld
  private let canary = "canary-" + String(UInt64.random(in: .min ... .max), radix: 36)

  init() throws {
    world = try CredentialWorld()
    try world.addShared()
  }

  private var location: [String] {
    ["--root", world.root.path, "--group", CredentialWorld.groupName]
  }

  /// Starts `framebus credential run` with a worker as its child.
  private func started() throws -> (run: HandedChild, workerID: Int32) {
    let pipe = try OneWayPipe()
    try writeFully(Array(canary.utf8), to: pipe.writeEnd.number)
    let number = try pipe.readEnd.duplicate()
    _ = pipe.takeWriteEnd()
    let run = try HandedChild(
      "framebus",
      ["credential", "run", "--lease-fd", "3:turn.example.com/studio"] + location
        + ["--", try pathOfProgram("CredentialWorker"), world.root.path]
        + [CredentialWorld.groupName],
      inherited: [number.number])
    // It answers only when it is running.
    _ = try run.ask("list")
    return (run, try worker(of: run.program.processID))
  }

  private func worker(of parentID: Int32) throws -> Int32 {
    let children = try String(
      contentsOfFile: "/proc/\(parentID)/task/\(parentID)/children", encoding: .utf8)
    return try #require(children.split(separator: " ").first.flatMap { Int32($0) })
  }

  private func text(_ processID: Int32, _ file: String) throws -> String {
    String(
      decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(processID)/\(file)")),
      as: UTF8.self)
  }

  @Test(
    .enabled(
      if: ProcessFacts.readsProtectedMemory,
      "only root, if the kernel allows it, reads protected memory"))
  func noProcessHasTheSecretInMemoryAfterTheSession() throws {
    let (run, workerID) = try started()
    let (parent, worker) = (ProcessFacts(run.program.processID), ProcessFacts(workerID))
    #expect(try parent.memoryHolds(canary), "the scan finds nothing at all")
    #expect(try run.ask("take") == "extension")
    #expect(try !parent.memoryHolds(canary))
    #expect(try run.ask("get turn.example.com studio") == "\(canary.utf8.count) bytes")
    #expect(try worker.memoryHolds(canary))
    #expect(try run.ask("end") == "ended")
    #expect(try !worker.memoryHolds(canary))
  }

  @Test func noFileEnvironmentOrArgumentContainsTheSecret() throws {
    let (run, workerID) = try started()
    #expect(try run.ask("take") == "extension")
    #expect(try run.ask("get turn.example.com studio") == "\(canary.utf8.count) bytes")
    #expect(try text(workerID, "environ").contains("FRAMEBUS_HANDED_FD=3\0"))
    for processID in [workerID, run.program.processID] {
      for file in ["environ", "cmdline"] {
        #expect(try !text(processID, file).contains(canary), "\(file)")
      }
    }
    #expect(try TestSupport.run("grep", ["-r", canary, world.root.path]).status == .exited(1))
    #expect(!run.program.transcript.contains(canary))
  }

  @Test func childKeepsItsCredentialsWhenItsParentIsKilled() throws {
    let (run, _) = try started()
    run.program.process.send(signal: SIGKILL)
    _ = run.program.process.wait(until: .after(.seconds(60)))
    #expect(try run.ask("take") == "extension")
    #expect(try run.ask("get turn.example.com studio") == "\(canary.utf8.count) bytes")
  }

  @Test func statusOfAKilledChildIsReported() throws {
    let (run, workerID) = try started()
    kill(workerID, SIGKILL)
    #expect(try run.program.finish().status == .exited(128 + SIGKILL))
  }

  private func framebus(_ arguments: [String]) throws -> ProgramResult {
    try TestSupport.run("framebus", ["credential"] + arguments)
  }

  @Test func scriptsUseTheHandOver() throws {
    let program = try pathOfProgram("framebus")
    let got = try framebus(
      ["run"] + location + ["--", program, "credential", "get", "whip.example.com", "studio"])
    #expect(got.output == "token-1", "\(got.errors)")
    #expect(got.status == .exited(0))
    try world.store.add(CredentialName(service: "http://a/b", account: "c"), secret("lent"))
    let lent = try framebus(
      ["run", "--role", "capture", "--lease", "http://a/b/c"] + location
        + ["--", program, "credential", "list"])
    #expect(
      lent.output == "http://a/b/c  capture,host  session\nwhip.example.com/studio"
        + "  extension,host  Studio\n", "\(lent.errors)")
    let again = try framebus(
      ["run"] + location + [
        "--", "sh", "-c", "\(program) credential list; exec \(program) credential list",
      ])
    #expect(again.status == .exited(1))
    #expect(
      again.errors
        == "error: another process has already taken the hand-over; start this program again\n")
    let other = try framebus(
      ["run"] + location
        + ["--", program, "credential", "list", "--role", "host"])
    #expect(other.status == .exited(2))
    #expect(try framebus(["run"] + location + ["--", "sh", "-c", "exit 7"]).status == .exited(7))
    #expect(try framebus(["run"] + location).status == .exited(2))
    #expect(
      try framebus(["run", "--lease-fd", "x"] + location + ["--", "true"]).status == .exited(2))
    #expect(
      try framebus(["run", "--lease", "x/y"] + location + ["--", "true"]).status == .exited(1))
  }
}
