import AppGroup
import CredentialStore
import DarwinKeychain
import Foundation
import TestSupport
import Testing

/// The adapter, used like KeychainAccess.
@Suite struct KeychainTests {
  private let root: TemporaryRoot
  private let group: AppGroup
  private let keychain: Keychain

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("a.b"), root: root.path)
    keychain = Keychain(service: "whip.example.com", group: group)
  }

  private func secret(_ text: String) throws -> SecretBytes {
    try SecretBytes(copying: Array(text.utf8))
  }

  private func text(_ keychain: Keychain, _ key: String) throws -> String? {
    let secret = try keychain.get(key)
    switch secret {
    case .some(let secret):
      return secret.withBytes { bytes in
        String(
          decoding: (0..<bytes.byteCount).map {
            // SAFETY: inside the span.
            unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
          }, as: UTF8.self)
      }
    case .none: return nil
    }
  }

  @Test func setSecretsAreReturnedAndRemovedOnesAreNil() throws {
    #expect(try text(keychain, "studio") == nil)
    #expect(try keychain.allKeys().isEmpty)
    try keychain.set(secret("token-1"), key: "studio")
    #expect(try text(keychain, "studio") == "token-1")
    try keychain.set(secret("token-2"), key: "studio")
    // A second keychain of the same service, as in another program.
    #expect(
      try text(Keychain(service: "whip.example.com", group: group), "studio") == "token-2")
    #expect(try keychain.contains("studio"))
    #expect(try text(keychain, "other") == nil)
    try keychain.remove("studio")
    try keychain.remove("studio")
    #expect(try !keychain.contains("studio"))
  }

  @Test func keychainSeesOnlyItsService() throws {
    for key in ["b", "a"] { try keychain.set(secret("x"), key: key) }
    let other = Keychain(service: "turn.example.com", group: group)
    try other.set(secret("y"), key: "c")
    #expect(try keychain.allKeys() == ["a", "b"])
    try keychain.removeAll()
    #expect(try keychain.allKeys().isEmpty)
    #expect(try other.allKeys() == ["c"])
  }

  @Test func attributesSurviveANewSecret() throws {
    try keychain.label("Studio").comment("live").recipients([.extension])
      .set(secret("token-1"), key: "studio")
    try keychain.set(secret("token-2"), key: "studio")
    let item = try #require(try keychain.attributes(of: "studio"))
    #expect(item.label == "Studio" && item.comment == "live")
    #expect(item.recipients == [.extension, .host])
    let uploader = Keychain(service: "whip.example.com", group: group, role: .extension)
    #expect(try text(uploader, "studio") == "token-2")
  }

  @Test func failuresAreThrownNotNil() throws {
    try keychain.expires(atSeconds: 1_000_000_000).set(secret("old"), key: "studio")
    #expect(throws: KeychainError.self) { try text(keychain, "studio") }
    let capturer = Keychain(service: "whip.example.com", group: group, role: .capture)
    #expect(throws: KeychainError.self) { try text(capturer, "studio") }
    #expect(throws: KeychainError.self) { try capturer.set(secret("x"), key: "studio") }
    #expect(throws: KeychainError.self) { try keychain.set(secret("x"), key: "") }
    #expect(throws: KeychainError.self) {
      try text(Keychain(service: "s", accessGroup: "org.example.no-such-group"), "studio")
    }
    #expect(throws: KeychainError.self) {
      try text(Keychain(service: "s", accessGroup: "nodot"), "studio")
    }
  }
}
