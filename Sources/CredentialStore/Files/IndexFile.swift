import AppGroup
import Platform
import Synchronization

/// The index in its file. The head is verified at once, and each block of credentials when one of
/// its names is looked up. The file stays open, and a file that is replaced keeps its bytes, so all
/// blocks belong to one state of the store.
final class IndexFile: Sendable {
  let head: IndexHead
  let status: FileStatus
  private let file: ReadableFile
  private let blocks: [IndexBlock]
  /// The blocks that were read, or all credentials under 0 if there are no blocks.
  private let tables: Mutex<[Int: CredentialTable]>

  /// Enough for the head of ten thousand credentials, so that one read gets it.
  private static let firstBytes = 8192

  /// Reads the head, and verifies that `signer` signed it for the group.
  /// - Parameter status: of the file, when it was opened.
  init(
    _ file: ReadableFile, _ status: FileStatus, of group: GroupID, signer: [UInt8]
  ) throws(CredentialError) {
    let parts = try Self.parts(of: file, of: group, signer: signer)
    head = parts.head
    blocks = parts.blocks
    tables = Mutex(parts.items.map { [0: $0] } ?? [:])
    self.file = file
    self.status = status
  }

  /// The attributes of a credential.
  /// - Complexity: reads a block at most, whatever the number of credentials.
  func item(_ name: CredentialName) throws(CredentialError) -> CredentialAttributes? {
    if blocks.isEmpty { return tables.withLock { $0[0] }?[name] }
    guard let number = blocks.index(of: name) else { return nil }
    return try tables.withLock { tables throws(CredentialError) in
      if let table = tables[number] { return table[name] }
      let block = blocks[number]
      let table = try table(number, try Self.bytes(block.bytes, of: file)[...])
      tables[number] = table
      return table[name]
    }
  }

  /// The index with all credentials.
  func whole() throws(CredentialError) -> StoreIndex {
    try tables.withLock { tables throws(CredentialError) in
      guard let first = blocks.first, let last = blocks.last else {
        return StoreIndex(head: head, items: tables[0] ?? CredentialTable())
      }
      let start = first.bytes.lowerBound
      // One read for them all.
      let bytes =
        tables.count < blocks.count
        ? try Self.bytes(start..<last.bytes.upperBound, of: file) : []
      var items = CredentialTable()
      items.reserve(blocks.reduce(0) { $0 + $1.itemCount })
      for (number, block) in blocks.enumerated() {
        let range = block.bytes.lowerBound - start..<block.bytes.upperBound - start
        let known = tables[number]
        let table = if let known { known } else { try table(number, bytes[range]) }
        tables[number] = table
        items.append(table)
      }
      return StoreIndex(head: head, items: items)
    }
  }

  private static func parts(
    of file: ReadableFile, of group: GroupID, signer: [UInt8]
  ) throws(CredentialError) -> IndexParts {
    let first = try bytes(0..<min(firstBytes, file.byteCount), of: file)
    let count: Int
    do { count = try IndexParts.byteCount(first[...], ofFile: file.byteCount) } catch {
      throw refusal(error, file)
    }
    let bytes = count <= first.count ? Array(first[..<count]) : try bytes(0..<count, of: file)
    do {
      return try IndexParts(parsing: bytes, ofFile: file.byteCount, of: group, signer: signer)
    } catch {
      throw refusal(error, file)
    }
  }

  private func table(
    _ number: Int, _ bytes: ArraySlice<UInt8>
  ) throws(CredentialError) -> CredentialTable {
    do {
      return try blocks[number].items(
        bytes, atMost: head.generation, before: blocks.after(number))
    } catch {
      throw Self.refusal(error, file)
    }
  }

  private static func bytes(
    _ range: Range<Int>, of file: ReadableFile
  ) throws(CredentialError) -> [UInt8] {
    let bytes: [UInt8]
    do { bytes = try file.bytes(at: range.lowerBound, count: range.count) } catch {
      throw CredentialError(error)
    }
    guard bytes.count == range.count else { throw .tampered(file.path) }
    return bytes
  }

  private static func refusal(_ error: FormatError, _ file: ReadableFile) -> CredentialError {
    error == .newer ? .newerVersion(path: file.path) : .tampered(file.path)
  }
}
