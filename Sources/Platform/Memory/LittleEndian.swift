/// The byte order of all files and packets of this product.
extension [UInt8] {
  package mutating func append(littleEndian value: some FixedWidthInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Overwrites the bytes at an offset.
  package mutating func set(littleEndian value: some FixedWidthInteger, at offset: Int) {
    for index in 0..<value.bitWidth / 8 {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
    }
  }
}

extension FixedWidthInteger {
  /// Decodes a number from exactly its own number of bytes.
  package init(littleEndian bytes: some BidirectionalCollection<UInt8>) {
    precondition(bytes.count == Self.bitWidth / 8, "\(bytes.count) bytes for \(Self.self)")
    self = bytes.reversed().reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }
}
