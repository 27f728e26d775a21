import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// Credentials on their way from one store to another, and files that somebody else made.
@Suite struct MovingTests {
  private let name = CredentialWorld.name
  private let from: CredentialWorld
  private let to: CredentialWorld

  init() throws {
    from = try CredentialWorld()
    to = try CredentialWorld()
    try from.addShared("moved")
    try from.store.add(
      try CredentialName(service: "turn.example.com", account: "studio"), secret("turn"),
      options: CredentialOptions(comment: "relay", expiresAtSeconds: 4_102_444_800))
  }

  private func exported() throws -> [UInt8] {
    try from.store.export(try from.store.list().map(\.name), for: try to.store.identity())
  }

  private func under(_ passphrase: String) throws -> [UInt8] {
    let receiver = ExportFile.Receiver.passphrase(
      .init(secret: try secret(passphrase), cost: .interactive))
    return try from.store.export([name], for: receiver)
  }

  private func expectTampered(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
      Issue.record("\(what): accepted")
    } catch let error as CredentialError {
      switch error {
      case .unusableExport, .newerVersion, .notEntitled: break
      default: Issue.record("\(what): \(error)")
      }
    }
  }

  @Test func whatIsExportedForAStoreIsAllThereAfterTheImport() throws {
    let identity = try StoreIdentity(from.store.identity().description)
    let names = try to.store.importing(exported(), from: identity)
    #expect(names.count == 2)
    let store = try to.open()
    for item in try from.store.list() {
      let arrived = try store.attributes(of: item.name)
      #expect(arrived.label == item.label && arrived.comment == item.comment)
      #expect(arrived.createdAtSeconds == item.createdAtSeconds)
      #expect(arrived.expiresAtSeconds == item.expiresAtSeconds)
      #expect(arrived.recipients == item.recipients)
      #expect(try store.text(item.name) == from.store.text(item.name))
    }
    #expect(try to.open(.extension).text() == "moved")
    #expect(try from.store.auditLog(of: .host).filter { $0.verb == .export }.count == 2)
    #expect(try store.auditLog(of: .host).filter { $0.verb == .import }.count == 2)
  }

  @Test func aFileUnderAPassphraseNeedsIt() throws {
    let file = try under("correct horse")
    #expect(CredentialStore.isUnderPassphrase(file))
    for wrong in [nil, "wrong horse"] {
      let error = try #require(throws: CredentialError.self) {
        try to.store.importing(file, passphrase: secretOrNone(wrong))
      }
      guard case .notEntitled = error else { throw error }
    }
    #expect(try to.store.list().isEmpty)
    try to.store.importing(file, passphrase: secret("correct horse"))
    #expect(try to.open().text() == "moved")
  }

  @Test func anotherStoreCannotOpenIt() throws {
    let third = try CredentialWorld()
    let error = try #require(throws: CredentialError.self) {
      try third.store.importing(exported())
    }
    guard case .notEntitled = error else { throw error }
    let stranger = try #require(throws: CredentialError.self) {
      try to.store.importing(exported(), from: third.store.identity())
    }
    guard case .notEntitled = stranger else { throw stranger }
  }

  @Test func aNameThatIsTakenStopsTheWholeImportUnlessItIsReplaced() throws {
    try to.store.add(name, secret("own"))
    let file = try exported()
    #expect(throws: CredentialError.duplicate(name)) { try to.store.importing(file) }
    #expect(try to.open().list().count == 1)
    #expect(try to.open().text() == "own")
    try to.store.importing(file, isReplacing: true)
    #expect(try to.open().list().count == 2)
    #expect(try to.open().text() == "moved")
    #expect(try to.items().count == 2)
  }

  @Test func onlyTheHostExportsAndImports() throws {
    let store = try from.open(.extension)
    let error = try #require(throws: CredentialError.self) {
      try store.export([name], for: to.store.identity())
    }
    guard case .notEntitled = error else { throw error }
    #expect(throws: CredentialError.self) { try store.importing(exported()) }
  }

  @Test func eachByteOfTheFileFlippedOrCutOff() throws {
    for file in [try exported(), try under("correct horse")] {
      for index in file.indices {
        var changed = file
        changed[index] ^= 1 << (index % 8)
        try expectTampered("byte \(index)") { try to.store.importing(changed) }
        try expectTampered("\(index) bytes") { try to.store.importing(Array(file[..<index])) }
      }
      try expectTampered("a byte more") { try to.store.importing(file + [0]) }
    }
    #expect(try to.open().list().isEmpty)
  }

  /// A stranger can sign any file, but the content must still be signed with the exporter's key.
  @Test func aFileSignedAnewByAStrangerIsRefused() throws {
    let stranger = try RoleKeys(seed: SecretBytes.random(byteCount: 32))
    let file = try exported()
    let signer = from.store.keys.signing.publicKey
    let location = try #require(file.indices.first { Array(file[$0...].prefix(32)) == signer })
    var forged = Array(file.dropLast(64))
    forged.replaceSubrange(location..<location + 32, with: stranger.signing.publicKey)
    forged += stranger.signing.signature(of: forged, domain: .export)
    try expectTampered("a stranger's signature") { try to.store.importing(forged) }
  }

  @Test(arguments: [UInt64(0), 1, 17, .max], [UInt64(0), 8192, 1 << 31, .max])
  func absurdParametersOfArgon2(operations: UInt64, memoryBytes: UInt64) throws {
    var file = Array(try under("correct horse").dropLast(64))
    let location = 8 + 4 + 1 + 2 + CredentialWorld.groupName.utf8.count + 8 + 32
    for (offset, value) in [(0, operations), (8, memoryBytes)] {
      file.set(littleEndian: value, at: location + offset)
    }
    file += from.store.keys.signing.signature(of: file, domain: .export)
    #expect(throws: CredentialError.unusableExport("the file")) {
      try to.store.importing(file, passphrase: secret("correct horse"))
    }
  }

  @Test func aSlipInAnIdentityIsNoticed() throws {
    let text = try to.store.identity().description
    #expect(try StoreIdentity(text) == to.store.identity())
    for (wrong, right) in [("0", "1"), ("a", "b"), ("f", "")] {
      guard let location = text.dropFirst(15).firstIndex(of: Character(wrong)) else { continue }
      let changed = text.replacingCharacters(in: location...location, with: right)
      #expect(throws: CredentialError.self) { try StoreIdentity(changed) }
    }
    for wrong in ["", "framebus-store-", text + "00", text.uppercased()] {
      #expect(throws: CredentialError.self) { try StoreIdentity(wrong) }
    }
  }
}
