import AppGroup
import Platform

/// Some of an index's credentials, as the head names them: their hash and the first one's name. So
/// the head's signature covers them, but a reader needs only the block of the name that it wants.
struct IndexBlock: Equatable {
  let first: CredentialName
  let itemCount: Int
  /// Where its attributes lie in the file.
  let bytes: Range<Int>
  let hash: [UInt8]

  /// All blocks but the last have as many credentials.
  static let maximumItems = 128

  /// The attributes of the block.
  /// - Parameters:
  ///   - bytes: as read from the file, and untrusted.
  ///   - next: the block after it, whose names are greater.
  func items(
    _ bytes: ArraySlice<UInt8>, atMost generation: UInt64, before next: IndexBlock?
  ) throws(FormatError) -> CredentialTable {
    guard Sodium.hash(bytes) == hash else { throw .wrong }
    var parser = ByteParser(bytes)
    var values: [CredentialAttributes] = []
    values.reserveCapacity(itemCount)
    for _ in 0..<itemCount {
      values.append(try parser.indexed(atMost: generation, after: values.last))
    }
    guard parser.isAtEnd, let table = CredentialTable(sorted: values),
      let least = values.first, let greatest = values.last, least.name == first,
      next.map({ greatest.name < $0.first }) ?? true
    else { throw .wrong }
    return table
  }
}

extension ByteParser {
  /// The attributes of a credential of an index.
  mutating func indexed(
    atMost generation: UInt64, after previous: CredentialAttributes?
  ) throws(FormatError) -> CredentialAttributes {
    let item = try attributes(after: previous)
    guard item.generation <= generation else { throw .wrong }
    return item
  }
}

extension [IndexBlock] {
  /// The block that has a name, if any has it.
  func index(of name: CredentialName) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if name < self[middle].first { high = middle } else { low = middle + 1 }
    }
    return low == 0 ? nil : low - 1
  }

  func after(_ index: Int) -> IndexBlock? { index + 1 < count ? self[index + 1] : nil }
}
