import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// The formats, by what was written long ago and by a program that shares no code with this one.
@Suite struct VectorTests {
  static let vectors = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Vectors").path
  private static let script = tool("open_sealed.py")

  private static let known = """
    turn.example.com\tstudio\tturn secret
    whip.example.com\tstudio\tbearer tökén

    """

  private func opened(_ store: String, _ role: String, _ key: String...) throws -> String {
    try output(of: "/usr/bin/python3", [Self.script, store, role] + key)
  }

  /// A group with a copy of the store that is checked in.
  private func copied(to root: TemporaryRoot) throws -> AppGroup {
    let group = try AppGroup.create(GroupID(CredentialWorld.groupName), root: root.path)
    let path = group.containerPath + "/credentials"
    try output(of: "cp", ["-r", Self.vectors, path])
    try output(of: "chmod", ["-R", "u=rwX,go=rX", path])
    try output(of: "rm", [path + "/export"])
    try output(of: "sh", ["-c", "chmod 600 \(path)/keys/* \(path)/audit/*"])
    return group
  }

  /// The host's key under this passphrase, the extension's for the host alone, and handed over.
  private static let passphrase = "correct hörse"
  private static let lease = "lease.example.com\tstudio\tlent tökén\n"

  @Test func theOtherKeysThatAreCheckedInOpen() throws {
    let root = try TemporaryRoot()
    let group = try copied(to: root)
    let path = group.containerPath + "/credentials"
    try output(of: "sh", ["-c", "cat \(path)/other-keys/host.key > \(path)/keys/host.key"])
    try output(
      of: "sh", ["-c", "cat \(path)/other-keys/extension.key > \(path)/keys/extension.key"])
    let store = try CredentialStore.open(
      in: group, as: .host, passphrase: secret(Self.passphrase))
    let handed = try store.handOver(to: .extension)
    #expect(handed.descriptorNumber > 2)
    #expect(try opened(path, "host", Self.passphrase) == Self.known)
    #expect(try opened(path, "extension", Self.passphrase) == Self.shared)
    let memory = Self.vectors + "/other-keys/extension.handed"
    #expect(try opened(Self.vectors, "extension", "--handed", memory) == Self.shared + Self.lease)
  }

  @Test func theStoreThatIsCheckedInOpens() throws {
    let root = try TemporaryRoot()
    let group = try copied(to: root)
    for role in [Role.host, .extension] {
      let store = try CredentialStore.open(in: group, as: role)
      let lines = try store.list().filter { $0.recipients.contains(role) }.map {
        "\($0.name.service)\t\($0.name.account)\t\(try store.text($0.name))\n"
      }
      #expect(lines.joined() == (role == .host ? Self.known : Self.shared))
    }
  }

  private static let shared = "whip.example.com\tstudio\tbearer tökén\n"

  @Test func anIndependentProgramOpensTheStoreThatIsCheckedIn() throws {
    #expect(try opened(Self.vectors, "host") == Self.known)
    #expect(try opened(Self.vectors, "extension") == Self.shared)
  }

  private static let export = vectors + "/export"

  @Test func theExportThatIsCheckedInIsImported() throws {
    let world = try CredentialWorld()
    let file = try Data(contentsOf: URL(fileURLWithPath: Self.export))
    try world.store.importing(Array(file), passphrase: secret("correct horse"))
    let lines = try world.open().list().map {
      "\($0.name.service)\t\($0.name.account)\t\(try world.store.text($0.name))\n"
    }
    #expect(lines.joined() == Self.known)
  }

  @Test func anIndependentProgramOpensExports() throws {
    #expect(try opened(Self.export, "correct horse") == Self.known)
    let world = try CredentialWorld()
    try world.addShared("now")
    let receiver = ExportFile.Receiver.passphrase(
      .init(secret: try secret("horse"), cost: .interactive))
    let file = world.root.file("export")
    try Data(try world.store.export([CredentialWorld.name], for: receiver))
      .write(to: URL(fileURLWithPath: file))
    #expect(try opened(file, "horse") == "whip.example.com\tstudio\tnow\n")
  }

  @Test func anIndependentProgramOpensWhatIsSealedNow() throws {
    let world = try CredentialWorld()
    try world.addShared("first")
    _ = try world.open(.extension).text()
    try world.store.update(CredentialWorld.name, secret("second"))
    for role in ["host", "extension"] {
      #expect(try opened(world.path, role) == "whip.example.com\tstudio\tsecond\n")
    }
  }
  @Test func anIndependentProgramOpensWithAKeyFromEachPlace() throws {
    let world = try CredentialWorld()
    try world.addShared("token")
    let line = "whip.example.com\tstudio\ttoken\n"
    try world.store.changeKeySource(of: .extension, to: .handOver)
    #expect(try opened(world.path, "extension") == line)
    let lease = try CredentialLease(
      CredentialName(service: "turn.example.com", account: "a"), secret("lent"))
    let handed = try world.store.handOver(to: .extension, leases: [lease])
    let copy = world.root.file("handed")
    try Data(contentsOf: URL(fileURLWithPath: "/proc/self/fd/\(handed.descriptorNumber)"))
      .write(to: URL(fileURLWithPath: copy))
    #expect(
      try opened(world.path, "extension", "--handed", copy)
        == line + "turn.example.com\ta\tlent\n")
    let passphrase = KeySource.passphrase(try secret("correct hörse"))
    try world.store.changeKeySource(
      of: .host, passphrase: nil, to: passphrase, cost: .interactive)
    #expect(try opened(world.path, "host", "correct hörse") == line)
    #expect(try opened(world.path, "extension", "correct hörse") == line)
  }
}
