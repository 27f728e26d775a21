import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// The attacks of docs/design/sealed-file.md. Each ends with the expected error and never with a
/// wrong secret.
@Suite struct AttackTests {
  private let name = CredentialWorld.name

  /// Expects one of the errors that a damaged or changed file may cause.
  private func expectRefusal(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
      Issue.record("\(what): accepted")
    } catch let error as CredentialError {
      switch error {
      case .tampered, .newerVersion: break
      default: Issue.record("\(what): \(error)")
      }
    }
  }

  /// Opens a new store and gets the secret, as the extension does.
  private func get(_ world: CredentialWorld) throws {
    #expect(try world.open(.extension).text() == "token-1")
  }

  @Test func eachByteOfEachFileFlipped() throws {
    let world = try CredentialWorld()
    try world.addShared()
    try get(world)
    for file in try world.files() where file != "keys/host.key" && file != "audit/host.chain" {
      let whole = try world.bytes(file)
      for index in whole.indices {
        var changed = whole
        changed[index] ^= 1 << (index % 8)
        try world.overwrite(file, changed)
        try expectRefusal("\(file), byte \(index)") { try get(world) }
      }
      try world.overwrite(file, whole)
    }
    try get(world)
  }

  @Test func eachFileTruncatedAtEachLength() throws {
    let world = try CredentialWorld()
    try world.addShared()
    for file in try world.files() where !file.hasPrefix("audit/") && file != "keys/host.key" {
      let whole = try world.bytes(file)
      for length in whole.indices {
        try world.overwrite(file, Array(whole[..<length]))
        try expectRefusal("\(file), \(length) bytes") { try get(world) }
      }
      try world.overwrite(file, whole + [0])
      try expectRefusal("\(file), a byte more") { try get(world) }
      try world.overwrite(file, whole)
    }
    try get(world)
  }

  @Test func eachByteOfAPassphrasesKeyFileFlipped() throws {
    let world = try CredentialWorld(passphrase: "correct horse")
    let file = "keys/host.key"
    let whole = try world.bytes(file)
    // All bytes up to the parameters of Argon2id, and a sample of the rest, since each of those
    // costs one derivation.
    let parameters = whole.count - 272 - 24 - 16 - 16
    for index in Array(0..<parameters + 16) + [parameters + 20, whole.count - 1] {
      var changed = whole
      changed[index] ^= 0x80
      try world.overwrite(file, changed)
      let error = try #require(throws: CredentialError.self) {
        _ = try world.open(passphrase: "correct horse")
      }
      switch error {
      case .tampered, .newerVersion, .locked(.host, isWrongPassphrase: true): break
      default: Issue.record("byte \(index): \(error)")
      }
    }
    try world.overwrite(file, whole)
    _ = try world.open(passphrase: "correct horse")
  }

  /// A file that requests extreme amounts of memory or time is refused before Argon2id begins.
  @Test(arguments: [UInt64(0), 1, 17, 1 << 40, .max], [UInt64(0), 8192, 1 << 31, .max])
  func extremeParametersOfArgon2AreRefused(operations: UInt64, memoryBytes: UInt64) throws {
    let world = try CredentialWorld(passphrase: "correct horse")
    let file = "keys/host.key"
    var bytes = try world.bytes(file)
    let tableStart = bytes.count - 272 - 24 - 16 - 16
    for (offset, value) in [(0, operations), (8, memoryBytes)] {
      bytes.set(littleEndian: value, at: tableStart + offset)
    }
    try world.overwrite(file, bytes)
    try expectRefusal("\(operations), \(memoryBytes)") {
      _ = try world.open(passphrase: "correct horse")
    }
  }

  @Test func twoItemsSwapped() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let other = try CredentialName(service: "turn.example.com", account: "studio")
    try world.store.add(
      other, secret("token-2"), options: CredentialOptions(recipients: [.extension]))
    let files = try world.items().map { "items/" + $0 }
    let bytes = try files.map { try world.bytes($0) }
    try world.overwrite(files[0], bytes[1])
    try world.overwrite(files[1], bytes[0])
    try expectRefusal("swapped") { try get(world) }
    try expectRefusal("swapped") { _ = try world.open(.extension).text(other) }
    // Only the sealed bodies and their signatures.
    let bodyBytes = 4 + 272 + 64
    try world.overwrite(
      files[0], Array(bytes[0].dropLast(bodyBytes) + bytes[1].suffix(bodyBytes)))
    try world.overwrite(files[1], bytes[1])
    #expect(throws: CredentialError.self) {
      for name in [name, other] { _ = try world.open(.extension).text(name) }
    }
  }

  @Test func anItemOfAnotherGroupOrStore() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let foreign = try CredentialWorld()
    try foreign.addShared("forged")
    let own = "items/" + (try #require(try world.items().first))
    let theirs = "items/" + (try #require(try foreign.items().first))
    let whole = try world.bytes(own)
    try world.overwrite(own, foreign.bytes(theirs))
    try expectRefusal("a foreign item") { try get(world) }
    try world.overwrite(own, whole)
    try world.overwrite("index", foreign.bytes("index"))
    try expectRefusal("a foreign index") { try get(world) }
  }

  /// The body is unchanged, but the attacker signed it.
  @Test func itemSignedByAnotherKeyIsRefused() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let file = "items/" + (try #require(try world.items().first))
    let item = try world.store.attributes(of: name)
    let forger = try RoleKeys(seed: SecretBytes.random(byteCount: 32))
    let forged = try SealedRecord.seal(
      secret("forged"), item, in: world.group.id,
      recipientKeys: item.recipients.map {
        try #require(try world.store.index().roles[$0]).opening
      }, signing: forger.signing)
    try world.overwrite(file, forged)
    try expectRefusal("signed by a stranger") { try get(world) }
    // A recipient has the keys to open an item, but cannot write one.
    let extensionStore = try world.open(.extension)
    let extensionForged = try SealedRecord.seal(
      secret("forged"), item, in: world.group.id,
      recipientKeys: item.recipients.map {
        try #require(try world.store.index().roles[$0]).opening
      }, signing: extensionStore.keys.signing)
    try world.overwrite(file, extensionForged)
    try expectRefusal("signed by the extension") { try get(world) }
  }

  /// The attacker's key in the index would make the host seal for the attacker.
  @Test func aRecipientsKeySubstituted() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let thief = try RoleKeys(seed: SecretBytes.random(byteCount: 32))
    var index = try world.store.index()
    index.roles[.extension] = thief.publicKeys
    try world.overwrite("index", index.signedBytes(of: world.group.id, by: thief.indexSigning))
    try expectRefusal("the thief's index") {
      try world.store.set(name, secret("x"), options: CredentialOptions(recipients: [.extension]))
    }
    // Even if the index is correctly signed, the role notices that its key differs.
    try world.overwrite(
      "index", index.signedBytes(of: world.group.id, by: world.store.keys.indexSigning))
    try expectRefusal("the thief's key") { try get(world) }
  }

  @Test func anOlderItemOrIndexReplayed() throws {
    let world = try CredentialWorld()
    try world.addShared("token-0")
    let oldIndex = try world.bytes("index")
    let oldName = try #require(try world.items().first)
    let oldItem = try world.bytes("items/" + oldName)
    try world.store.update(name, secret("token-1"))
    let new = try #require(try world.items().first)
    let whole = try world.bytes("items/" + new)
    try world.overwrite("items/" + new, oldItem)
    try expectRefusal("an older item") { try get(world) }
    try world.overwrite("items/" + new, whole)
    try get(world)
    try world.overwrite("index", oldIndex)
    try Data(oldItem).write(to: URL(fileURLWithPath: world.path + "/items/" + oldName))
    let newIndex = CredentialError.rolledBack(generation: 2, seen: 3)
    #expect(throws: newIndex) { try get(world) }
    #expect(throws: newIndex) { try world.store.list() }
    // After a reboot the anchor is gone, but the role's log still has the generation.
    try FileManager.default.removeItem(atPath: world.anchorPath)
    #expect(throws: newIndex) { try get(world) }
  }

  /// Items that only the newer index names must survive.
  @Test func changeOfAnOlderIndexRemovesNoItems() throws {
    let world = try CredentialWorld()
    let oldIndex = try world.bytes("index")
    try world.addShared()
    let added = try #require(try world.items().first)
    try world.overwrite("index", oldIndex)
    try FileManager.default.removeItem(atPath: world.anchorPath)
    let other = try CredentialName(service: "turn.example.com", account: "studio")
    try world.open().add(other, secret("token-2"))
    #expect(try world.items().contains(added))
    // An index older than the last record of the host's log is refused at once.
    let later = try CredentialWorld()
    let first = try later.bytes("index")
    for text in ["a", "b"] { try later.store.set(name, secret(text)) }
    let kept = try later.items()
    try later.overwrite("index", first)
    try FileManager.default.removeItem(atPath: later.anchorPath)
    #expect(throws: CredentialError.rolledBack(generation: 1, seen: 2)) {
      try later.open().add(other, secret("token-2"))
    }
    #expect(try later.items() == kept)
  }

  @Test func onlyTheHostAcceptsARestore() throws {
    let world = try CredentialWorld()
    try world.addShared("token-0")
    let saved = world.root.file("saved")
    try output(of: "cp", ["-a", world.path, saved])
    try world.store.update(name, secret("token-1"))
    try get(world)
    try output(of: "rm", ["-r", world.path])
    try output(of: "cp", ["-a", saved, world.path])
    let error = try #require(throws: CredentialError.self) { _ = try world.open() }
    guard case .rolledBack = error else { throw error }
    try CredentialStore.acceptRestore(in: world.group)
    #expect(try world.open(.extension).text() == "token-0")
    try world.open().update(name, secret("token-1"))
    try get(world)
  }

  @Test func storeWithAMissingFileIsNotTreatedAsEmpty() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let item = try #require(try world.items().first)
    let files = FileManager.default
    try files.moveItem(atPath: world.path + "/items/" + item, toPath: world.root.file("item"))
    try expectRefusal("no item") { try get(world) }
    try files.moveItem(atPath: world.root.file("item"), toPath: world.path + "/items/" + item)
    try files.removeItem(atPath: world.path + "/index")
    try expectRefusal("no index") { try get(world) }
    try expectRefusal("no index, made anew") {
      _ = try CredentialStore.create(in: world.group)
    }
  }

  @Test(arguments: [
    ("mv PATH PATH.more; ln -s PATH.more PATH", "symbolic link"),
    ("chmod go+w PATH", "others can write it"),
    ("chown 4242 PATH", "uid 4242"),
    ("mv PATH PATH.more; mkfifo PATH", "fifo"),
    ("ln PATH PATH.more", "2 hard links"),
  ])
  func pathsThatAnotherUserControlsAreRefused(_ command: String, _ reason: String) throws {
    try #require(getuid() == 0 || !command.contains("chown"), "chown needs root")
    for file in ["index", "keys/extension.key", "items/ITEM", "items", "."] {
      if file == "items" || file == ".", command.hasPrefix("ln ") { continue }
      let world = try CredentialWorld()
      try world.addShared()
      let item = try #require(try world.items().first)
      var path = file == "." ? world.path : world.path + "/" + file
      path = path.replacing("ITEM", with: item)
      try output(of: "sh", ["-ec", command.replacing("PATH", with: path)])
      let error = try #require(throws: CredentialError.self, "\(file)") { try get(world) }
      #expect("\(error)".contains("cannot be trusted"), "\(file): \(error)")
      #expect("\(error)".contains(reason), "\(file): \(error)")
    }
  }

  @Test func keyFileThatOthersCanReadIsRefused() throws {
    let world = try CredentialWorld()
    for mode in ["604", "640"] {
      try output(of: "chmod", [mode, world.path + "/keys/host.key"])
      let error = try #require(throws: CredentialError.self) { _ = try world.open() }
      #expect("\(error)".contains("others can read it (mode 0\(mode))"), "\(error)")
    }
  }

  /// Sequence, chain and signature: a record cannot be changed, omitted or moved.
  @Test func changedLogIsDetected() throws {
    let world = try CredentialWorld()
    try world.addShared()
    for _ in 0..<3 { _ = try world.store.text() }
    let file = "audit/host.chain"
    let whole = try world.bytes(file)
    #expect(whole.count == 4 * 512)
    for index in stride(from: 0, to: whole.count, by: 13) {
      var changed = whole
      changed[index] ^= 4
      try world.overwrite(file, changed)
      try expectRefusal("byte \(index)") { _ = try world.store.auditLog(of: .host) }
    }
    try world.overwrite(file, Array(whole[512...]))
    try expectRefusal("the first left out") { _ = try world.store.auditLog(of: .host) }
    try world.overwrite(file, Array(whole[..<1024] + whole[1536...]))
    try expectRefusal("one left out") { _ = try world.store.auditLog(of: .host) }
    // A partial record of a process that died is overwritten by the next record.
    try world.overwrite(file, whole + whole[..<100])
    #expect(try world.store.auditLog(of: .host).count == 4)
    _ = try world.store.text()
    #expect(try world.store.auditLog(of: .host).count == 5)
  }

  /// An open store verifies its own records again only if they have changed.
  @Test func logThatChangesWhileAStoreIsOpenIsDetected() throws {
    let world = try CredentialWorld()
    try world.addShared()
    for _ in 0..<2 { _ = try world.store.text() }
    let file = "audit/host.chain"
    let whole = try world.bytes(file)
    for index in [0, 40, 200, 448, 511] {
      var changed = whole
      changed[whole.count - 512 + index] ^= 1
      try world.overwrite(file, changed)
      try expectRefusal("byte \(index)") { _ = try world.store.text() }
    }
    // The last record replaced by the one before it, which is genuine.
    let (before, after) = (whole.count - 1024, whole.count - 512)
    try world.overwrite(file, Array(whole[..<after] + whole[before..<after]))
    try expectRefusal("twice the same") { _ = try world.store.text() }
    try world.overwrite(file, whole)
    _ = try world.store.text()
    #expect(try world.store.auditLog(of: .host).count == 4)
  }

  @Test func newerVersionIsReported() throws {
    let world = try CredentialWorld()
    try world.addShared()
    var index = try world.bytes("index")
    index[8] = 3
    try world.overwrite("index", index)
    #expect(throws: CredentialError.newerVersion(path: world.path + "/index")) { try get(world) }
  }
}
