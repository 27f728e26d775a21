import AppGroup
import Platform

/// The parsers of untrusted data, for the fuzzer (`Fuzz/Credentials`). Each input is signed with
/// the required key, so that it gets as far as data from an attacker who has that key.
package struct FormatTrial: ~Copyable {
  let keys: RoleKeys
  let group: GroupID

  package init(group: GroupID) throws(CredentialError) {
    // Constant, so that stored inputs have the right public keys.
    let seed: [UInt8] = Array(repeating: 7, count: RoleKeys.seedBytes)
    keys = try RoleKeys(seed: SecretBytes(copying: seed))
    self.group = group
  }

  private borrowing func signed(_ bytes: [UInt8], _ domain: Sodium.Domain) -> [UInt8] {
    bytes + keys.signing.signature(of: bytes, domain: domain)
  }

  /// An accepted index of version 1, which has all in its head. As one of this version it must
  /// have the same contents.
  package borrowing func index(_ bytes: [UInt8]) {
    let file = bytes + keys.indexSigning.signature(of: bytes, domain: .index)
    let signer = keys.indexSigning.publicKey
    guard let index = try? StoreIndex(parsing: file, of: group, signer: signer) else { return }
    let again = index.signedBytes(of: group, by: keys.indexSigning)
    let parsed = try? StoreIndex(parsing: again, of: group, signer: signer)
    precondition(parsed == index, "another index")
  }

  /// An index of this version. The input is its head without the signature, whose length its field
  /// states, and its blocks. An accepted one must encode to the same bytes.
  package borrowing func indexInBlocks(_ bytes: [UInt8]) {
    guard let count = try? IndexParts.byteCount(bytes[...], ofFile: bytes.count + 64),
      count >= Format.indexStartBytes + 64, count - 64 <= bytes.count
    else { return }
    let head = Array(bytes[..<(count - 64)])
    let signature = keys.indexSigning.signature(of: head, domain: .index)
    let file = head + signature + Array(bytes[(count - 64)...])
    let signer = keys.indexSigning.publicKey
    guard let index = try? StoreIndex(parsing: file, of: group, signer: signer) else { return }
    precondition(index.signedBytes(of: group, by: keys.indexSigning) == file, "another index")
  }

  /// A block of an index whose hash is right.
  package borrowing func indexBlock(_ bytes: [UInt8]) {
    var parser = ByteParser(bytes)
    guard let count = try? parser.integer(UInt8.self), count > 0,
      let body = try? parser.slice(parser.remaining),
      let first = try? Self.firstName(body)
    else { return }
    let block = IndexBlock(
      first: first, itemCount: Int(count), bytes: 0..<body.count, hash: Sodium.hash(body))
    guard let table = try? block.items(body, atMost: UInt64.max, before: nil) else { return }
    var writer = ByteWriter()
    for item in table.values { writer.attributes(item) }
    precondition(writer.bytes == Array(body), "another block")
  }

  private static func firstName(
    _ block: ArraySlice<UInt8>
  ) throws(FormatError) -> CredentialName {
    var parser = ByteParser(block)
    return try parser.attributes().name
  }

  package borrowing func item(_ bytes: [UInt8]) {
    guard let item = try? SealedRecord(parsing: signed(bytes, .item)) else { return }
    _ = try? item.open(as: .host, with: keys.opening)
  }

  package borrowing func auditRecord(_ bytes: [UInt8]) {
    let record = try? AuditRecord(
      parsing: signed(bytes, .audit), after: nil, key: keys.signing.publicKey)
    if let record { precondition(record.name.map { !$0.service.isEmpty } ?? true) }
  }

  package borrowing func keyFile(_ bytes: [UInt8]) {
    guard let file = try? SecretBytes(copying: bytes) else { return }
    _ = try? KeyFile(parsing: file)
  }

  package borrowing func export(_ bytes: [UInt8]) {
    guard let file = try? ExportFile(parsing: signed(bytes, .export)) else { return }
    precondition(file.count > 0)
  }

  /// The encrypted content of an export, which is untrusted even if the file opens.
  package borrowing func exported(_ bytes: [UInt8]) {
    let identity = StoreIdentity(keys.publicKeys)
    let sealed = try? ExportFile.bytes(
      of: 1, from: group, for: .store(identity), signing: keys.signing
    ) { _ throws(CredentialError) in try SecretBytes(copying: bytes) }
    guard let sealed, let file = try? ExportFile(parsing: sealed),
      let key = try? file.key(for: keys.opening, passphrase: nil)
    else { return }
    try? file.withEntry(0, by: key) { attributes, secret throws(CredentialError) in
      let again = try ExportFile.entry(attributes, secret)
      precondition(again.byteCount == bytes.count, "another entry")
    }
  }

  package borrowing func identity(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let identity = try? StoreIdentity(text) else { return }
    precondition(identity.description == text, "another identity")
  }
}
