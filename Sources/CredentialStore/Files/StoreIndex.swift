import AppGroup
import Platform

/// The index of the store: the public keys of its roles, the permitted writers, and every
/// credential with its generation. The host signs it, which reveals removals, replays and foreign
/// keys. A change takes effect when a new index replaces the old one.
struct StoreIndex: Equatable {
  static let fileName = "index"

  var head: IndexHead
  var items: CredentialTable

  var generation: UInt64 {
    get { head.generation }
    set { head.generation = newValue }
  }
  var roles: [Role: IndexHead.PublicKeys] {
    get { head.roles }
    set { head.roles = newValue }
  }

  init(head: IndexHead, items: CredentialTable) {
    self.head = head
    self.items = items
  }

  /// A store without credentials.
  init(host: borrowing RoleKeys) {
    head = IndexHead(host: host)
    items = CredentialTable()
  }

  func signedBytes(of group: GroupID, by signing: borrowing SigningKey) -> [UInt8] {
    var blocks = ByteWriter()
    var names = ByteWriter()
    names.integer(UInt32(items.count))
    var start = 0
    for first in stride(from: 0, to: items.count, by: IndexBlock.maximumItems) {
      let block = items.values[first..<min(first + IndexBlock.maximumItems, items.count)]
      for item in block { blocks.attributes(item) }
      names.text(block[first].name.service)
      names.text(block[first].name.account)
      names.integer(UInt32(blocks.bytes.count - start))
      names.raw(Sodium.hash(blocks.bytes[start...]))
      start = blocks.bytes.count
    }
    var fields = ByteWriter()
    fields.text(group.description)
    head.write(to: &fields, signer: signing.publicKey)
    fields.raw(names.bytes)
    var writer = ByteWriter()
    writer.raw(Format.indexMagic.utf8)
    writer.integer(Format.indexVersion)
    writer.integer(UInt32(Format.indexStartBytes + fields.bytes.count + Sodium.signatureBytes))
    writer.raw(fields.bytes)
    writer.raw(signing.signature(of: writer.bytes, domain: .index))
    writer.raw(blocks.bytes)
    return writer.bytes
  }

  /// Parses a whole file, and verifies that `signer` signed it for the group.
  init(parsing bytes: [UInt8], of group: GroupID, signer: [UInt8]) throws(FormatError) {
    let count = try IndexParts.byteCount(bytes[...], ofFile: bytes.count)
    let parts = try IndexParts(
      parsing: Array(bytes.prefix(count)), ofFile: bytes.count, of: group, signer: signer)
    head = parts.head
    var all = CredentialTable()
    for (number, block) in parts.blocks.enumerated() {
      all.append(
        try block.items(
          bytes[block.bytes], atMost: head.generation, before: parts.blocks.after(number)))
    }
    items = parts.items ?? all
  }
}
