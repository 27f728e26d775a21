import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// The formats, by what was written long ago and by a program that shares no code with this one.
@Suite struct VectorTests {
  private static let vectors = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Vectors").path
  private static let script = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Tools/open_sealed.py").path

  private static let known = """
    turn.example.com\tstudio\tturn secret
    whip.example.com\tstudio\tbearer tökén

    """

  private func opened(_ store: String, _ role: String) throws -> String {
    try output(of: "/usr/bin/python3", [Self.script, store, role])
  }

  @Test func theStoreThatIsCheckedInOpens() throws {
    let root = try TemporaryRoot()
    let group = try AppGroup.create(GroupID(CredentialWorld.groupName), root: root.path)
    let path = group.containerPath + "/credentials"
    try output(of: "cp", ["-r", Self.vectors, path])
    try output(of: "chmod", ["-R", "u=rwX,go=rX", path])
    try output(of: "rm", [path + "/export"])
    try output(of: "sh", ["-c", "chmod 600 \(path)/keys/* \(path)/audit/*"])
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
}
