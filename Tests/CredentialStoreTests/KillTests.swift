import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// SIGKILL at each system call of a change. The old or the new secret is intact, and so is every
/// other credential, and the next change succeeds.
@Suite struct KillTests {
  // Death at the first write leaves a file that was opened but not written.
  private static let calls = [
    "mkdirat", "fchown", "fchmod", "fsetxattr", "write", "pwrite64", "fsync", "renameat",
    "renameat2", "unlinkat",
  ]
  private let name = CredentialWorld.name

  /// Runs `framebus credential …` and kills it at the N-th such call.
  private func killed(
    _ world: CredentialWorld, at call: String, _ number: Int, _ script: String
  ) throws -> Bool {
    let program = try pathOfProgram("framebus")
    let options = "--root \(world.root.path) --group \(CredentialWorld.groupName)"
    let trace =
      "strace -f -qq -o /dev/null -e trace=\(call)"
      + " -e inject=\(call):signal=KILL:when=\(number)"
    let command = script.replacing("FRAMEBUS", with: "\(trace) \(program) credential")
      .replacing("OPTIONS", with: options)
    return try !run("sh", ["-c", command + "; exit $?"]).status.isSuccess
  }

  /// Kills at the first call of each kind, then at the second, and so on, until a run completes.
  /// - Returns: the number of killed runs.
  private func atEachCall(
    _ script: String, begin: (CredentialWorld) throws -> Void = { _ in },
    check: (CredentialWorld, String) throws -> Void
  ) throws -> Int {
    var deaths = 0
    for call in Self.calls {
      for number in 1...100 {
        let world = try CredentialWorld()
        try world.addShared("old")
        try begin(world)
        let isKilled = try killed(world, at: call, number, script)
        try check(world, "killed at \(call) \(number)")
        // The next change succeeds, and the one after it leaves no leftovers.
        for text in ["first", "next"] { try world.open().set(name, secret(text)) }
        #expect(try world.open().text() == "next")
        #expect(try world.items().count == world.open().list().count)
        #expect(try world.files().allSatisfy { !$0.contains(".new-") })
        if !isKilled { break }
        deaths += 1
      }
    }
    return deaths
  }

  @Test func writerKilledWhileReplacingASecret() throws {
    let deaths = try atEachCall("printf new | FRAMEBUS update whip.example.com studio OPTIONS") {
      world, when in
      let text = try world.open(.extension).text()
      #expect(text == "old" || text == "new", "\(when)")
    }
    #expect(deaths >= 15, "\(deaths)")
  }

  @Test func writerKilledWhileAddingACredential() throws {
    let deaths = try atEachCall(
      "printf new | FRAMEBUS add turn.example.com studio --recipient capture OPTIONS"
    ) { world, when in
      #expect(try world.open(.extension).text() == "old", "\(when)")
      let other = try CredentialName(service: "turn.example.com", account: "studio")
      if try world.open().list().count == 2 {
        #expect(try world.open(.capture).text(other) == "new")
      }
    }
    #expect(deaths >= 21, "\(deaths)")
  }

  @Test func writerKilledWhileRemovingACredential() throws {
    let deaths = try atEachCall("FRAMEBUS remove whip.example.com studio OPTIONS") {
      world, when in
      if try world.open().list().isEmpty {
        #expect(throws: CredentialError.notFound(name)) { try world.open().text() }
      } else {
        #expect(try world.open(.extension).text() == "old", "\(when)")
      }
    }
    #expect(deaths >= 12, "\(deaths)")
  }

  /// One change imports three credentials: all of them or none.
  @Test func writerKilledWhileImporting() throws {
    let other = try CredentialWorld()
    let names = try ["a", "b"].map { try CredentialName(service: "new.example.com", account: $0) }
    try other.store.add(names, secret("new"), options: CredentialOptions())
    try other.addShared("new")
    let file = other.root.file("export")
    let deaths = try atEachCall(
      "FRAMEBUS import \(file) --replace OPTIONS",
      begin: { world in
        let bytes = try other.store.export(names + [name], for: try world.store.identity())
        try Data(bytes).write(to: URL(fileURLWithPath: file))
      },
      check: { world, when in
        let store = try world.open()
        let isImported = try store.list().count == 3
        #expect(try store.text() == (isImported ? "new" : "old"), "\(when)")
        for other in isImported ? names : [] { #expect(try store.text(other) == "new", "\(when)") }
        // Removed, so that the next checks find the expected number.
        for item in try store.list() where item.name != name { try store.remove(item.name) }
      })
    #expect(deaths >= 20, "\(deaths)")
  }

  @Test func writerKilledWhileRotating() throws {
    let deaths = try atEachCall("FRAMEBUS rotate whip.example.com studio OPTIONS") { world, when in
      let text = try world.open(.extension).text()
      #expect(text == "old", "\(when)")
    }
    #expect(deaths >= 14, "\(deaths)")
  }

  /// Without the key file no credential opens.
  @Test func writerKilledWhileChangingThePassphrase() throws {
    let deaths = try atEachCall("FRAMEBUS protect --no-passphrase OPTIONS") {
      world, when in
      let text = try world.open().text()
      #expect(text == "old", "\(when)")
    }
    #expect(deaths >= 5, "\(deaths)")
  }
  @Test func writerKilledWhileAddingAPassphrase() throws {
    let deaths = try atEachCall(
      "printf horse | FRAMEBUS protect --role extension --new-passphrase-fd 0 OPTIONS"
    ) { world, when in
      let text = try world.open(.extension, passphrase: "horse").text()
      #expect(text == "old", "\(when)")
    }
    #expect(deaths >= 5, "\(deaths)")
  }

  @Test func writerKilledWhileChangingAKeyToHandOver() throws {
    let deaths = try atEachCall("FRAMEBUS protect --role extension --hand-over OPTIONS") {
      world, when in
      _ = try world.open().handOver(to: .extension)
      do {
        #expect(try world.open(.extension).text() == "old", "\(when)")
      } catch CredentialError.keyElsewhere(.extension, .handOver) {
        // After.
      }
    }
    #expect(deaths >= 5, "\(deaths)")
  }
}
