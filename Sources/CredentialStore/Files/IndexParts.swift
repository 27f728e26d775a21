import AppGroup
import Platform

/// What an index file has before its blocks, or all that one of version 1 has.
struct IndexParts {
  let head: IndexHead
  let blocks: [IndexBlock]
  /// The credentials of a file of version 1, which has no blocks.
  let items: CredentialTable?

  private static let maximumHeadBytes = 1 << 20

  /// The number of bytes to read and verify first, from the first bytes of a file.
  static func byteCount(_ first: ArraySlice<UInt8>, ofFile all: Int) throws(FormatError) -> Int {
    var parser = ByteParser(first)
    guard try parser.raw(8) == Array(Format.indexMagic.utf8) else { throw .wrong }
    switch try parser.integer(UInt32.self) {
    case 1: return all
    case Format.indexVersion:
      let count = Int(try parser.integer(UInt32.self))
      guard (parser.position...min(maximumHeadBytes, max(parser.position, all))).contains(count)
      else { throw .wrong }
      return count
    case let version where version > Format.indexVersion: throw .newer
    default: throw .wrong
    }
  }

  /// Parses those bytes, and verifies that `signer` signed them for the group.
  init(
    parsing bytes: [UInt8], ofFile all: Int, of group: GroupID, signer: [UInt8]
  ) throws(FormatError) {
    guard bytes.count == (try Self.byteCount(bytes[...], ofFile: all)) else { throw .wrong }
    var parser = ByteParser(bytes)
    try parser.skip(8)
    let isFirstVersion = try parser.integer(UInt32.self) == 1
    if !isFirstVersion { try parser.skip(4) }
    // The signature is checked before anything else is used.
    let signedCount = bytes.count - Sodium.signatureBytes
    guard signedCount > parser.position,
      Sodium.isSigned(
        bytes[..<signedCount], domain: .index, signature: Array(bytes[signedCount...]),
        by: signer),
      try parser.text(atMost: GroupID.maximumBytes) == group.description
    else { throw .wrong }
    head = try IndexHead(&parser, signer: signer)
    let count = Int(try parser.integer(UInt32.self))
    guard count <= Format.maximumItems else { throw .wrong }
    if isFirstVersion {
      var values: [CredentialAttributes] = []
      for _ in 0..<count {
        values.append(try parser.indexed(atMost: head.generation, after: values.last))
      }
      guard let table = CredentialTable(sorted: values) else { throw .wrong }
      (items, blocks) = (table, [])
    } else {
      items = count == 0 ? CredentialTable() : nil
      blocks = try Self.blocks(of: count, &parser, startingAt: bytes.count)
      guard blocks.last?.bytes.upperBound ?? bytes.count == all else { throw .wrong }
    }
    guard parser.position == signedCount else { throw .wrong }
  }

  private static func blocks(
    of count: Int, _ parser: inout ByteParser, startingAt start: Int
  ) throws(FormatError) -> [IndexBlock] {
    var blocks: [IndexBlock] = []
    var start = start
    for first in stride(from: 0, to: count, by: IndexBlock.maximumItems) {
      guard
        let name = try? CredentialName(
          plainService: parser.text(atMost: CredentialName.maximumBytes),
          account: parser.text(atMost: CredentialName.maximumBytes))
      else { throw .wrong }
      if let last = blocks.last, last.first >= name { throw .wrong }
      let end = start + Int(try parser.integer(UInt32.self))
      blocks.append(
        IndexBlock(
          first: name, itemCount: min(IndexBlock.maximumItems, count - first), bytes: start..<end,
          hash: try parser.raw(Sodium.hashBytes)))
      start = end
    }
    return blocks
  }
}
