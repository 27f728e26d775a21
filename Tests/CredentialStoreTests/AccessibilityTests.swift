import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// Credentials that no file of the store opens by itself.
@Suite struct AccessibilityTests {
  private let name = CredentialWorld.name
  private let guarded = CredentialOptions(accessibility: .whenUnlocked)

  /// A store whose host has a passphrase.
  private func world() throws -> (CredentialWorld, CredentialStore) {
    let world = try CredentialWorld(passphrase: "horse")
    return (world, try world.open(passphrase: "horse"))
  }

  private func refused(_ role: Role) -> CredentialError { .keyInTheOpen(role, name) }

  @Test func nothingIsSealedForAKeyInTheOpen() throws {
    let open = try CredentialWorld()
    #expect(throws: refused(.host)) { try open.store.add(name, secret("x"), options: guarded) }
    #expect(try open.store.list().isEmpty && open.items().isEmpty)

    let (world, store) = try world()
    try world.addShared()
    var options = guarded
    options.recipients = [.extension]
    #expect(throws: refused(.extension)) { try store.set(name, secret("x"), options: options) }
    #expect(try store.text() == "token-1")
    try store.changeKeySource(of: .extension, to: .handOver)
    try store.set(name, secret("token-2"), options: options)
    #expect(try store.attributes(of: name).accessibility == .whenUnlocked)
    let handed = try store.handOver(to: .extension)
    let child = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try child.ask("take") == "extension")
    #expect(try child.ask("get whip.example.com studio") == "7 bytes")
  }

  @Test func aKeyIsNotPutIntoTheOpenWhileItOpensSuchACredential() throws {
    let (world, store) = try world()
    try store.add(name, secret("token-1"), options: guarded)
    #expect(throws: refused(.host)) { try store.changeKeySource(of: .host, to: .file) }
    try store.changeKeySource(
      of: .host, passphrase: nil, to: .passphrase(secret("cow")), cost: .interactive)
    let again = try world.open(passphrase: "cow")
    #expect(try again.text() == "token-1")
    try again.set(name, secret("token-2"))
    try again.changeKeySource(of: .host, to: .file)
    #expect(try world.open().text() == "token-2")
  }

  @Test func aRoleThatIsNewGetsAKeyThatIsOnlyHandedOver() throws {
    let (world, store) = try world()
    try store.add(name, secret("token-1"), options: guarded)
    try store.grant(.capture, name)
    #expect(throws: CredentialError.keyElsewhere(.capture, .handOver)) {
      _ = try world.open(.capture)
    }
    let handed = try store.handOver(to: .capture)
    let child = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try child.ask("take") == "capture")
    #expect(try child.ask("get whip.example.com studio") == "7 bytes")
  }

  @Test func aChangeKeepsTheAccessibilityAndAnEarlierKeyFileOpensNothing() throws {
    let (world, store) = try world()
    try world.addShared()
    let earlier = try world.bytes("keys/extension.key")
    try store.changeKeySource(of: .extension, to: .handOver)
    var options = guarded
    options.recipients = [.extension]
    try store.set(name, secret("token-2"), options: options)
    try world.overwrite("keys/extension.key", earlier)
    #expect(throws: refused(.extension)) { _ = try world.open(.extension).text() }
    #expect(throws: refused(.extension)) { try store.update(name, secret("token-3")) }
    try store.revoke(.extension, name)
    try store.update(name, secret("token-3"))
    #expect(try store.attributes(of: name).accessibility == .whenUnlocked)
    #expect(try world.open(passphrase: "horse").text() == "token-3")
  }

  @Test func theCommandLineDistinguishesTheThree() throws {
    let (world, _) = try world()
    func set(_ accessibility: String) throws -> ProgramResult {
      let pipe = try OneWayPipe()
      try writeFully(Array("horse".utf8), to: pipe.writeEnd.number)
      let number = try pipe.readEnd.duplicate()
      _ = pipe.takeWriteEnd()
      return try RunningProgram(
        "sh",
        [
          "-c",
          "echo token-1 | \(pathOfProgram("framebus")) credential set s a --passphrase-fd 3"
            + " --accessibility \(accessibility) --root \(world.root.path)"
            + " --group \(CredentialWorld.groupName)",
        ], inherited: [number.number]
      ).finish()
    }
    #expect(try set("whenUnlocked").status == .exited(0))
    #expect(
      try world.open(passphrase: "horse").list().first?.accessibility == .whenUnlocked)
    let session = try set("session")
    #expect(session.status == .exited(2))
    #expect(session.errors.contains("--lease-fd"))
    #expect(try set("sometimes").status == .exited(2))
    #expect(throws: CredentialError.self) {
      try world.store.set(
        name, secret("x"), options: CredentialOptions(accessibility: .session))
    }
  }
}
