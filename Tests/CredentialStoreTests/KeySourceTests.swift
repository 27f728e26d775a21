import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// The protection of the roles' keys, and its changes.
@Suite struct KeySourceTests {
  private let world: CredentialWorld

  init() throws {
    world = try CredentialWorld()
    try world.addShared()
  }

  private func change(
    _ role: Role = .extension, passphrase: String? = nil, to source: borrowing KeySource
  ) throws {
    try world.open().changeKeySource(
      of: role, passphrase: try secretOrNone(passphrase), to: source, cost: .interactive)
  }

  private func framebus(
    _ arguments: String..., credentials: String? = nil
  ) throws -> ProgramResult {
    try run(
      "framebus",
      ["credential"] + arguments
        + ["--root", world.root.path, "--group", CredentialWorld.groupName],
      environment: ["CREDENTIALS_DIRECTORY": credentials])
  }

  private func getAsExtension(credentials: String? = nil) throws -> ProgramResult {
    try framebus(
      "get", "whip.example.com", "studio", "--role", "extension", credentials: credentials)
  }

  /// A credentials directory as systemd creates it, with a role's key.
  private func credentials(
    _ role: String = "extension", name: String? = nil, mode: Int = 0o400
  ) throws -> TemporaryRoot {
    let location = try TemporaryRoot()
    let file = location.file(name ?? "framebus.\(role).key")
    let program = try pathOfProgram("framebus")
    try output(
      of: "sh",
      [
        "-c",
        "\(program) credential protect --write-key --role \(role) --root \(world.root.path)"
          + " --group \(CredentialWorld.groupName) > \(file)",
      ])
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return location
  }

  @Test func keyForHandOverIsNotInAFileThatItsRoleCanOpen() throws {
    try change(to: .handOver)
    #expect(throws: CredentialError.keyElsewhere(.extension, .handOver)) {
      _ = try world.open(.extension)
    }
    #expect(throws: CredentialError.keyElsewhere(.extension, .handOver)) {
      _ = try world.open(.extension, passphrase: "any")
    }
    let handed = try world.open().handOver(to: .extension)
    let child = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try child.ask("take") == "extension")
    #expect(try child.ask("get whip.example.com studio") == "7 bytes")
    let refused = try getAsExtension()
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("`framebus credential run --role extension "))
    try change(to: .file)
    #expect(try world.open(.extension).text() == "token-1")
    #expect(throws: CredentialError.self) { try change(.host, to: .handOver) }
    #expect(try world.open().text() == "token-1")
  }

  @Test func eachByteOfAKeyFileForHandOverFlipped() throws {
    try change(to: .handOver)
    let file = "keys/extension.key"
    let whole = try world.bytes(file)
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 1 << (index % 8)
      try world.overwrite(file, changed)
      #expect(throws: CredentialError.self, "byte \(index)") {
        _ = try world.open().handOver(to: .extension)
      }
      try world.overwrite(file, Array(whole[..<index]))
      #expect(throws: CredentialError.self, "\(index) bytes") {
        _ = try world.open().handOver(to: .extension)
      }
    }
  }

  @Test func roleCanHaveItsOwnPassphrase() throws {
    try change(to: .passphrase(secret("horse")))
    #expect(throws: CredentialError.locked(.extension, isWrongPassphrase: false)) {
      _ = try world.open(.extension)
    }
    #expect(try world.open(.extension, passphrase: "horse").text() == "token-1")
    #expect(throws: CredentialError.locked(.extension, isWrongPassphrase: false)) {
      try change(to: .file)
    }
    #expect(throws: CredentialError.locked(.extension, isWrongPassphrase: false)) {
      _ = try world.open().handOver(to: .extension)
    }
    let pipe = try OneWayPipe()
    try writeFully(Array("horse".utf8), to: pipe.writeEnd.number)
    let number = try pipe.readEnd.duplicate()
    _ = pipe.takeWriteEnd()
    let run = try RunningProgram(
      "framebus",
      ["credential", "run", "--role-passphrase-fd", "3", "--root", world.root.path, "--group"]
        + [CredentialWorld.groupName, "--", try pathOfProgram("framebus"), "credential", "get"]
        + ["whip.example.com", "studio"],
      inherited: [number.number])
    let got = try run.finish()
    #expect(got.output == "token-1", "\(got.errors)")
    try change(passphrase: "horse", to: .handOver)
    try change(to: .file)
    #expect(try world.open(.extension).text() == "token-1")
  }

  @Test func keyIsLoadedFromASystemdCredential() throws {
    let location = try credentials()
    let lost = try framebus("protect", "--role", "extension", "--systemd")
    #expect(lost.status == .exited(1))
    #expect(lost.errors.contains("this process has no credential framebus.extension.key"))
    #expect(try getAsExtension().output == "token-1")
    let left = try framebus(
      "protect", "--role", "extension", "--systemd", credentials: location.path)
    #expect(left.status == .exited(0), "\(left.errors)")
    #expect(try getAsExtension(credentials: location.path).output == "token-1")
    let without = try getAsExtension()
    #expect(without.status == .exited(1))
    #expect(without.errors.contains("LoadCredentialEncrypted=framebus.extension.key"))
    let back = try framebus(
      "protect", "--role", "extension", "--no-passphrase", credentials: location.path)
    #expect(back.status == .exited(0), "\(back.errors)")
    #expect(try getAsExtension().output == "token-1")
  }

  @Test func hostsKeyIsLoadedFromASystemdCredential() throws {
    let location = try credentials("host")
    let left = try framebus("protect", "--systemd", credentials: location.path)
    #expect(left.status == .exited(0), "\(left.errors)")
    #expect(try framebus("grant", "whip.example.com", "studio", "capture").status == .exited(1))
    let granted = try framebus(
      "grant", "whip.example.com", "studio", "capture", credentials: location.path)
    #expect(granted.status == .exited(0), "\(granted.errors)")
    #expect(try world.open(.capture).text() == "token-1")
  }

  @Test func systemdCredentialWithAnotherKeyIsRefused() throws {
    let other = try CredentialWorld()
    try other.addShared("other")
    let location = try credentials()
    func refusal(_ world: CredentialWorld) throws -> String {
      let result = try run(
        "framebus",
        ["credential", "protect", "--systemd", "--role", "extension", "--root", world.root.path]
          + ["--group", CredentialWorld.groupName],
        environment: ["CREDENTIALS_DIRECTORY": location.path])
      return result.errors
    }
    // The same group and role in another store.
    #expect(try refusal(other).contains("the key of the role extension, or the index"))
    #expect(try other.open(.extension).text() == "other")
    let wrong = try credentials("host", name: "framebus.extension.key")
    #expect(try getAsExtension(credentials: wrong.path).errors.contains("is the key of host"))
    for location in ["/nonexistent", "relative"] {
      #expect(try getAsExtension(credentials: location).output == "token-1")
    }
  }

  @Test func systemdCredentialThatOthersCanReadOrPlantIsRefused() throws {
    for mode in [0o644, 0o604, 0o620] {
      let location = try credentials(mode: mode)
      let refused = try getAsExtension(credentials: location.path)
      #expect(refused.errors.contains("cannot be trusted: others can read it"), "\(refused.errors)")
    }
    let location = try credentials()
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: location.path)
    let refused = try getAsExtension(credentials: location.path)
    #expect(refused.errors.contains("can be written by others"), "\(refused.errors)")
  }

  @Test func passphraseCostIsHighWithinTheFormatsLimits() throws {
    let machine: UInt64 = 8 << 30
    for trialNs in [0, 1_000, 1_000_000, 70_000_000, 500_000_000, 60_000_000_000, .max] as [UInt64]
    {
      for bytes in [0, 1 << 30, machine, .max] as [UInt64] {
        let cost = PassphraseCost.fitting(trialNs: trialNs, machineBytes: bytes)
        #expect(cost.isReasonable, "\(trialNs) \(bytes)")
      }
    }
    // 70 ms for 2 passes over 64 MiB: 256 MiB take 280 ms, and 4 passes twice that.
    #expect(
      PassphraseCost.fitting(trialNs: 70_000_000, machineBytes: machine)
        == PassphraseCost(operations: 4, memoryBytes: 256 << 20))
    // A slow or small machine is not overloaded.
    #expect(
      PassphraseCost.fitting(trialNs: 600_000_000, machineBytes: machine) == .interactive)
    #expect(
      PassphraseCost.fitting(trialNs: 70_000_000, machineBytes: 1 << 30).memoryBytes == 128 << 20)
    #expect(try PassphraseCost.calibrated().isReasonable)
  }

  @Test func newPassphraseIsTypedTwice() throws {
    let script = tool("type_answer.py")
    func typed(_ second: String) throws -> ProgramResult {
      try run(
        "/usr/bin/python3",
        [script, "New passphrase: ", "horse", "Again: ", second, "--"]
          + [try pathOfProgram("framebus"), "credential", "protect"]
          + ["--root", world.root.path, "--group", CredentialWorld.groupName])
    }
    #expect(try typed("cow").status == .exited(1))
    #expect(try world.open().text() == "token-1")
    let done = try typed("horse")
    #expect(done.status == .exited(0), "\(done.output)")
    #expect(!done.output.contains("horse"))
    #expect(try world.open(passphrase: "horse").text() == "token-1")
  }
}
