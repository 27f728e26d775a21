import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// A store's behaviour without attacks.
@Suite struct StoreTests {
  private let name = CredentialWorld.name

  @Test func credentialIsAddedOpenedUpdatedListedAndRemoved() throws {
    let world = try CredentialWorld()
    let options = CredentialOptions(
      label: "Studio", comment: "for the live show", expiresAtSeconds: 4_102_444_800)
    try world.store.add(name, secret("token-1"), options: options)
    #expect(try world.open().text() == "token-1")
    try world.store.update(name, secret("token-2"))
    #expect(try world.open().text() == "token-2")
    let item = try #require(try world.open().list().first)
    #expect(item.name == name)
    #expect(item.label == "Studio" && item.comment == "for the live show")
    #expect(item.expiresAtSeconds == 4_102_444_800)
    #expect(item.recipients == [.host])
    #expect(item.generation == 3)
    try world.store.remove(name)
    #expect(throws: CredentialError.notFound(name)) { try world.store.text() }
    #expect(try world.items().isEmpty)
  }

  @Test func addOfAnExistingNameIsADuplicateAndSetReplacesIt() throws {
    let world = try CredentialWorld()
    try world.store.add(name, secret("token-1"))
    #expect(throws: CredentialError.duplicate(name)) {
      try world.store.add(name, secret("token-2"))
    }
    #expect(try world.store.text() == "token-1")
    try world.store.set(name, secret("token-3"), options: CredentialOptions(label: "new"))
    #expect(try world.store.text() == "token-3")
    #expect(try world.store.attributes(of: name).label == "new")
    #expect(try world.items().count == 1)
  }

  @Test func missingCredentialCannotBeChanged() throws {
    let world = try CredentialWorld()
    let missing = CredentialError.notFound(name)
    #expect(throws: missing) { try world.store.update(name, secret("x")) }
    #expect(throws: missing) { try world.store.remove(name) }
    #expect(throws: missing) { try world.store.grant(.extension, name) }
    #expect(throws: missing) { try world.store.attributes(of: name) }
  }

  @Test func onlyRecipientsOpenACredential() throws {
    let world = try CredentialWorld()
    try world.addShared()
    #expect(try world.open(.extension).text() == "token-1")
    let refused = try #require(throws: CredentialError.self) { _ = try world.open(.capture) }
    guard case .notEntitled = refused else { throw refused }
    let other = try CredentialName(service: "turn.example.com", account: "studio")
    try world.store.add(other, secret("token-2"))
    let second = try #require(throws: CredentialError.self) {
      try world.open(.extension).text(other)
    }
    guard case .notEntitled = second else { throw second }
  }

  @Test func onlyTheHostChangesCredentials() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let store = try world.open(.extension)
    for body in [
      { try store.add(name, secret("x")) }, { try store.set(name, secret("x")) },
      { try store.remove(name) }, { try store.grant(.capture, name) },
    ] as [() throws -> Void] {
      let error = try #require(throws: CredentialError.self) { try body() }
      guard case .notEntitled = error else { throw error }
    }
    #expect(try store.text() == "token-1")
  }

  @Test func revokedRoleOpensNeitherTheNewNorTheOldFile() throws {
    let world = try CredentialWorld()
    try world.store.add(name, secret("token-1"))
    try world.store.grant(.extension, name)
    let extensionStore = try world.open(.extension)
    #expect(try extensionStore.text() == "token-1")
    let old = try #require(try world.items().first)
    let oldBytes = try world.bytes("items/" + old)
    try world.store.revoke(.extension, name)
    let error = try #require(throws: CredentialError.self) { try extensionStore.text() }
    guard case .notEntitled = error else { throw error }
    let new = try #require(try world.items().first)
    #expect(old != new)
    // With another data key, no part of the old sealed body is in the new file.
    #expect(try world.bytes("items/" + new).suffix(400) != oldBytes.suffix(400))
    #expect(try world.store.text() == "token-1")
    #expect(throws: CredentialError.self) { try world.store.revoke(.host, name) }
  }

  @Test func rotateSealsTheSameSecretWithAnotherDataKey() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let before = try world.store.attributes(of: name)
    let old = try #require(try world.items().first)
    let oldBytes = try world.bytes("items/" + old)
    try world.store.rotate(name)
    let after = try world.store.attributes(of: name)
    #expect(after.generation == before.generation + 1)
    #expect(after.recipients == before.recipients && after.label == before.label)
    for role in [Role.host, .extension] { #expect(try world.open(role).text() == "token-1") }
    let new = try #require(try world.items().first)
    #expect(old != new)
    #expect(try world.bytes("items/" + new).suffix(400) != oldBytes.suffix(400))
    #expect(try world.store.auditLog(of: .host).last { $0.verb != .get }?.verb == .rotate)
  }

  @Test func manyCredentialsAreAddedInOneChangeOrNone() throws {
    let world = try CredentialWorld()
    let names = try (0..<20).map { try CredentialName(service: "s\($0)", account: "a") }
    try world.store.add(names, secret("shared"), options: CredentialOptions())
    let generations = Set(try world.store.list().map(\.generation))
    #expect(generations == [2])
    #expect(try world.store.list().map(\.name) == names.sorted())
    let other = try CredentialName(service: "other", account: "a")
    #expect(throws: CredentialError.duplicate(names[3])) {
      try world.store.add([other, names[3]], secret("x"), options: CredentialOptions())
    }
    #expect(throws: CredentialError.notFound(other)) { try world.store.text(other) }
    #expect(try world.open().list().count == 20)
  }

  @Test func expiredCredentialStaysButCannotBeOpened() throws {
    let world = try CredentialWorld()
    let options = CredentialOptions(expiresAtSeconds: 1_000_000_000, recipients: [.extension])
    try world.store.add(name, secret("token-1"), options: options)
    let error = CredentialError.expired(name, atSeconds: 1_000_000_000)
    #expect(error.description.contains("expired at 2001-09-09T01:46:40Z; get a new one"))
    for role in [Role.host, .extension] {
      #expect(throws: error) { try world.open(role).text() }
    }
    try world.store.set(name, secret("token-2"))
    #expect(try world.store.text() == "token-2")
  }

  @Test func hostsKeyWithAPassphraseIsLockedWithoutIt() throws {
    let world = try CredentialWorld(passphrase: "correct horse")
    try world.addShared()
    #expect(throws: CredentialError.locked(.host, isWrongPassphrase: false)) {
      _ = try world.open()
    }
    #expect(throws: CredentialError.locked(.host, isWrongPassphrase: true)) {
      _ = try world.open(passphrase: "wrong horse")
    }
    #expect(try world.open(passphrase: "correct horse").text() == "token-1")
    #expect(try world.open(.extension).text() == "token-1")
  }

  @Test func changeOfTheKeysProtectionKeepsAllCredentials() throws {
    let world = try CredentialWorld()
    try world.addShared()
    func change(_ old: String?, _ new: String?) throws {
      let source: KeySource = if let new { .passphrase(try secret(new)) } else { .file }
      try world.open(passphrase: old).changeKeySource(
        of: .host, passphrase: nil, to: source, cost: .interactive)
    }
    try change(nil, "one")
    #expect(throws: CredentialError.locked(.host, isWrongPassphrase: false)) {
      try change(nil, "two")
    }
    try change("one", "two")
    #expect(throws: CredentialError.locked(.host, isWrongPassphrase: true)) {
      _ = try world.open(passphrase: "one")
    }
    #expect(try world.open(passphrase: "two").text() == "token-1")
    try change("two", nil)
    #expect(try world.open().text() == "token-1")
  }

  @Test func limitsOfNamesTextsAndSecretsAreEnforced() throws {
    let world = try CredentialWorld()
    let long = String(repeating: "é", count: 64)
    #expect(throws: CredentialError.self) { try CredentialName(service: "", account: "a") }
    #expect(throws: CredentialError.self) { try CredentialName(service: long + "e", account: "a") }
    #expect(throws: CredentialError.self) { try CredentialName(service: "a\nb", account: "a") }
    let widest = try CredentialName(service: long, account: long)
    let bytes = try SecretBytes(copying: Array(repeating: 7, count: 65536))
    let text = String(repeating: "x", count: 1024)
    try world.store.add(
      widest, bytes, options: CredentialOptions(label: text, comment: text))
    #expect(try world.open().get(widest).byteCount == 65536)
    for size in [0, 65537] {
      #expect(throws: CredentialError.self) {
        try world.store.set(widest, SecretBytes(copying: Array(repeating: 7, count: size)))
      }
    }
    #expect(throws: CredentialError.self) {
      try world.store.set(widest, secret("x"), options: CredentialOptions(label: text + "x"))
    }
    #expect(throws: CredentialError.self) {
      let stranger = try #require(Role(rawValue: "stranger"))
      try world.store.grant(stranger, widest)
    }
    #expect(try world.open().get(widest).byteCount == 65536)
  }

  @Test func secretsOfEveryLengthAreReadBackUnchanged() throws {
    let world = try CredentialWorld()
    for count in [1, 2, 255, 256, 257, 511, 512, 4096] {
      let text = String(repeating: "s", count: count)
      try world.store.set(name, secret(text))
      #expect(try world.store.text() == text)
    }
  }

  @Test func logsRecordRolesAndActions() throws {
    let world = try CredentialWorld()
    try world.addShared()
    _ = try world.open(.extension).text()
    try world.store.set(name, secret("x"), options: CredentialOptions(expiresAtSeconds: 5))
    _ = try? world.store.text()
    let host = try world.store.auditLog(of: .host)
    #expect(host.map(\.verb) == [.add, .set, .get])
    #expect(host.map(\.outcome) == [.done, .done, .expired])
    #expect(host.map(\.sequence) == [1, 2, 3])
    #expect(host.allSatisfy { $0.name == name && $0.uid == getuid() })
    let read = try world.store.auditLog(of: .extension)
    #expect(read.map(\.verb) == [.get])
    #expect(try world.store.auditLog(of: .capture).isEmpty)
  }

  @Test func twoConcurrentWritersLoseNothing() throws {
    let world = try CredentialWorld()
    let stores = try (0..<4).map { _ in try world.open() }
    try withWatchdog {
      DispatchQueue.concurrentPerform(iterations: 4) { writer in
        for number in 0..<8 {
          do {
            let name = try CredentialName(service: "s\(number)", account: "a\(writer)")
            try stores[writer].add(name, secret("\(writer)-\(number)"))
          } catch {
            Issue.record("\(error)")
          }
        }
      }
    }
    let store = try world.open()
    #expect(try store.list().count == 32)
    for item in try store.list() {
      let text = "\(item.name.account.dropFirst())-\(item.name.service.dropFirst())"
      #expect(try store.text(item.name) == text)
    }
    #expect(try world.items().count == 32)
    #expect(try store.auditLog(of: .host).count == 64)
  }
}
