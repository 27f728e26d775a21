import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// SIGKILL at each system call by which a change is made: the old secret or the new one is there,
/// whole, every other credential too, and the next change goes through.
@Suite struct KillTests {
  // A file that was opened and not written yet is what dying at its first write leaves.
  private static let calls =
    "mkdirat,fchown,fchmod,fsetxattr,write,pwrite64,fsync,renameat2,unlinkat"
  private let name = CredentialWorld.name

  /// Runs `framebus credential …` and has the kernel kill it as it enters the N-th of those calls.
  private func killed(
    _ world: CredentialWorld, at number: Int, _ script: String
  ) throws -> Bool {
    let program = try pathOfProgram("framebus")
    let options = "--root \(world.root.path) --group \(CredentialWorld.groupName)"
    let trace =
      "strace -f -qq -o /dev/null -e trace=\(Self.calls)"
      + " -e inject=\(Self.calls):signal=KILL:when=\(number)"
    let command = script.replacing("FRAMEBUS", with: "\(trace) \(program) credential")
      .replacing("OPTIONS", with: options)
    return try !run("sh", ["-c", command + "; exit $?"]).status.isSuccess
  }

  /// Kills at the first call, the second, and so on, until one run gets through.
  private func atEachCall(
    _ script: String, prepare: (CredentialWorld) throws -> Void = { try $0.addShared("old") },
    check: (CredentialWorld, Int) throws -> Void
  ) throws -> Int {
    for number in 1...200 {
      let world = try CredentialWorld()
      try prepare(world)
      let isKilled = try killed(world, at: number, script)
      try check(world, number)
      // The next change finds nothing in its way, and leaves nothing of the dead one.
      try world.open().set(name, secret("next"))
      #expect(try world.open().text() == "next")
      #expect(try world.items().count == world.open().list().count)
      #expect(try world.files().allSatisfy { !$0.contains(".new-") })
      if !isKilled { return number - 1 }
    }
    throw HarnessError("`\(script)` was still killed at its 200th call")
  }

  @Test func aWriterKilledWhileItReplacesASecret() throws {
    let deaths = try atEachCall("printf new | FRAMEBUS update whip.example.com studio OPTIONS") {
      world, number in
      let text = try world.open(.extension).text()
      #expect(text == "old" || text == "new", "killed at call \(number)")
    }
    #expect(deaths >= 10)
  }

  @Test func aWriterKilledWhileItAddsOne() throws {
    let deaths = try atEachCall(
      "printf new | FRAMEBUS add turn.example.com studio --recipient capture OPTIONS"
    ) { world, number in
      #expect(try world.open(.extension).text() == "old", "killed at call \(number)")
      let other = try CredentialName(service: "turn.example.com", account: "studio")
      if try world.open().list().count == 2 {
        #expect(try world.open(.capture).text(other) == "new")
      }
    }
    #expect(deaths >= 14)
  }

  @Test func aWriterKilledWhileItRemovesOne() throws {
    let deaths = try atEachCall("FRAMEBUS remove whip.example.com studio OPTIONS") {
      world, number in
      if try world.open().list().isEmpty {
        #expect(throws: CredentialError.notFound(name)) { try world.open().text() }
      } else {
        #expect(try world.open(.extension).text() == "old", "killed at call \(number)")
      }
    }
    #expect(deaths >= 5)
  }

  /// The key file is the one thing that everything hangs on.
  @Test func aWriterKilledWhileItChangesThePassphrase() throws {
    let deaths = try atEachCall("FRAMEBUS protect --no-passphrase OPTIONS") {
      world, number in
      let text = try world.open().text()
      #expect(text == "old", "killed at call \(number)")
    }
    #expect(deaths >= 4)
  }
}
