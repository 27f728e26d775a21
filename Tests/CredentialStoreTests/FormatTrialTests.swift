import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore

/// The fuzzer's initial inputs are valid, so that its mutations get past the first checks.
@Suite struct FormatTrialTests {
  private static let corpus = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/Corpus/Credentials")

  /// Without the first byte, which selects the format.
  private func input(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: Self.corpus.appendingPathComponent(name)).dropFirst())
  }

  @Test func initialFuzzerInputsAreValid() throws {
    let trial = try FormatTrial(group: GroupID("org.example.fuzz"))
    let index = try input("index")
    trial.index(index)
    let indexFile = index + trial.keys.indexSigning.signature(of: index, domain: .index)
    #expect(
      try StoreIndex(
        parsing: indexFile, of: trial.group, signer: trial.keys.indexSigning.publicKey
      ).items.count == 1)
    // The same in blocks: the signature is in the middle of the file.
    let inBlocks = try input("index-in-blocks")
    trial.indexInBlocks(inBlocks)
    let headCount = (Int(inBlocks[12]) | Int(inBlocks[13]) << 8) - 64
    let head = Array(inBlocks[..<headCount])
    let signature = trial.keys.indexSigning.signature(of: head, domain: .index)
    let blocksFile = head + signature + Array(inBlocks[headCount...])
    let signer = trial.keys.indexSigning.publicKey
    #expect(
      try StoreIndex(parsing: blocksFile, of: trial.group, signer: signer)
        == StoreIndex(parsing: indexFile, of: trial.group, signer: signer))
    trial.indexBlock(try input("index-block"))
    func signed(_ name: String, _ domain: Sodium.Domain) throws -> [UInt8] {
      let bytes = try input(name)
      return bytes + trial.keys.signing.signature(of: bytes, domain: domain)
    }
    let item = try SealedRecord(parsing: signed("item", .item))
    #expect(try item.open(as: .host, with: trial.keys.opening)?.text == "secret")
    let record = try AuditRecord(
      parsing: signed("audit-record", .audit), after: nil, key: trial.keys.signing.publicKey)
    #expect(record.name == item.attributes.name)
    let export = try ExportFile(parsing: signed("export", .export))
    let key = try export.key(for: trial.keys.opening, passphrase: nil)
    try export.withEntry(0, by: key) { attributes, secret throws(CredentialError) in
      #expect(attributes.name == item.attributes.name)
      #expect(secret.text == "secret")
    }
    for kind in [1, 2] {
      let bytes = try SecretBytes(copying: input("key-file-\(kind)"))
      let file = try KeyFile(parsing: bytes)
      #expect(file.role == .host)
    }
    #expect(try !StoreIdentity(String(decoding: input("identity"), as: UTF8.self)).opening.isEmpty)
    trial.exported(try input("exported"))
  }
}
