import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// The index in blocks: each credential is found, a lookup reads one block, and each block is
/// verified.
@Suite struct IndexTests {
  private let world: CredentialWorld

  init() throws { world = try CredentialWorld() }

  private static let label = String(repeating: "l", count: 200)

  private func name(_ number: Int) throws(CredentialError) -> CredentialName {
    try CredentialName(service: "s\(1000 + number).example.com", account: "studio")
  }

  /// An index whose credentials exist nowhere else.
  private func index(of count: Int) throws -> StoreIndex {
    var index = try world.store.index()
    for number in 0..<count {
      index.items[try name(number)] = CredentialAttributes(
        name: try name(number), label: Self.label, comment: "", accessibility: .always,
        createdAtSeconds: 1, changedAtSeconds: 2, expiresAtSeconds: number % 3 == 0 ? 3 : nil,
        recipients: number % 2 == 0 ? [.host] : [.extension, .host], generation: 1, id: .random())
    }
    return index
  }

  private func file(of index: StoreIndex) -> [UInt8] {
    index.signedBytes(of: world.group.id, by: world.store.keys.indexSigning)
  }

  /// The bytes of an index, in the store's place, opened as the store opens it.
  private func open(_ bytes: [UInt8]) throws -> IndexFile {
    try world.overwrite("index", bytes)
    let (file, status) = try #require(try world.store.files.openIndex())
    return try IndexFile(file, status, of: world.group.id, signer: world.store.signer)
  }

  @Test(arguments: [0, 1, 2, 127, 128, 129, 256, 300])
  func eachCredentialOfAnyNumberIsFound(count: Int) throws {
    let index = try index(of: count)
    let file = try open(file(of: index))
    for number in 0..<count { #expect(try file.item(name(number)) == index.items[name(number)]) }
    for text in ["a", "s1000.example.con", "s1127.example.con", "z"] {
      #expect(try file.item(CredentialName(service: text, account: "studio")) == nil)
    }
    #expect(try file.whole() == index)
    #expect(try open(self.file(of: index)).whole() == index)
  }

  /// Where the blocks begin, and the end.
  private func blocks(_ bytes: [UInt8]) throws -> [Int] {
    let count = try IndexParts.byteCount(bytes[...], ofFile: bytes.count)
    let parts = try IndexParts(
      parsing: Array(bytes[..<count]), ofFile: bytes.count, of: world.group.id,
      signer: world.store.signer)
    return [count] + parts.blocks.map(\.bytes.upperBound)
  }

  @Test func changedBlockIsRefusedAndOthersAreRead() throws {
    let bytes = file(of: try index(of: 300))
    let bounds = try blocks(bytes)
    #expect(bounds.count == 4)
    for block in 0..<3 {
      var changed = bytes
      changed[Int.random(in: bounds[block]..<bounds[block + 1])] ^= 1
      let file = try open(changed)
      for number in [0, 127, 128, 255, 256, 299] {
        if number / 128 == block {
          #expect(throws: CredentialError.tampered(world.path + "/index")) {
            try file.item(name(number))
          }
        } else {
          #expect(try file.item(name(number))?.name == name(number))
        }
      }
      #expect(throws: CredentialError.tampered(world.path + "/index")) { try file.whole() }
    }
  }

  @Test func swappedOrOlderBlocksAreRefused() throws {
    let older = file(of: try index(of: 256))
    let bytes = file(of: try index(of: 256))
    let bounds = try blocks(bytes)
    #expect(try blocks(older) == bounds)
    let (first, second) = (bytes[bounds[0]..<bounds[1]], bytes[bounds[1]...])
    for forged in [second + first, older[bounds[0]..<bounds[1]] + second] {
      let file = try open(Array(bytes[..<bounds[0]]) + forged)
      #expect(throws: CredentialError.self) { try file.item(name(0)) }
    }
  }

  /// Names that the host did not sign in order are refused, even with a right signature.
  @Test func blocksInDisorderAreRefused() throws {
    let index = try index(of: 130)
    var (low, high) = (index, index)
    low.items = CredentialTable()
    low.items.append(try #require(CredentialTable(sorted: Array(index.items.values[2...]))))
    low.items.append(try #require(CredentialTable(sorted: Array(index.items.values[..<2]))))
    high.items = CredentialTable()
    high.items.append(try #require(CredentialTable(sorted: Array(index.items.values[..<127]))))
    high.items.append(try #require(CredentialTable(sorted: Array(index.items.values[129...]))))
    high.items.append(try #require(CredentialTable(sorted: Array(index.items.values[128..<129]))))
    #expect(throws: CredentialError.self) { try open(file(of: low)).whole() }
    #expect(throws: CredentialError.self) { try open(file(of: high)).whole() }
  }

  @Test func storeOfTheFirstVersionIsReadAndRewritten() throws {
    let root = try TemporaryRoot()
    let group = try AppGroup.create(GroupID(CredentialWorld.groupName), root: root.path)
    let path = group.containerPath + "/credentials"
    try output(of: "cp", ["-r", VectorTests.vectors, path])
    try output(of: "chmod", ["-R", "u=rwX,go=rX", path])
    try output(of: "sh", ["-c", "chmod 600 \(path)/keys/* \(path)/audit/*; rm \(path)/export"])
    func version() throws -> UInt8 {
      try Data(contentsOf: URL(fileURLWithPath: path + "/index"))[8]
    }
    #expect(try version() == 1)
    let store = try CredentialStore.open(in: group, as: .host)
    let before = try store.list().map(\.name)
    try store.add(name(1), secret("new"))
    #expect(try version() == 2)
    let after = try CredentialStore.open(in: group, as: .host)
    #expect(try Set(after.list().map(\.name)) == Set(before + [name(1)]))
    for name in before { #expect(try !after.text(name).isEmpty) }
  }

  /// The bytes of the index that a program reads for one credential, by strace(1).
  @Test func getReadsOneBlock() throws {
    let options = CredentialOptions(label: Self.label)
    try world.store.add((0..<600).map { try name($0) }, secret("x"), options: options)
    let size = try world.bytes("index").count
    let trace = world.root.file("trace")
    try output(
      of: "strace",
      [
        "-f", "-y", "-e", "trace=read,pread64", "-o", trace, try pathOfProgram("framebus"),
        "credential", "get", "--root", world.root.path, "--group", CredentialWorld.groupName,
        "s1300.example.com", "studio",
      ])
    let reads = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").filter {
      $0.contains("/credentials/index>")
    }
    let count = reads.compactMap { $0.split(separator: "= ").last.flatMap { Int($0) } }
      .reduce(0, +)
    #expect(!reads.isEmpty)
    #expect(count > 0 && count < size / 3, "\(count) of \(size) bytes: \(reads)")
  }
}
