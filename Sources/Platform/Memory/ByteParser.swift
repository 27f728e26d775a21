/// Why bytes are not in an expected format.
package enum FormatError: Error, Hashable, Sendable {
  case wrong
  /// The format has a newer version than this program supports.
  case newer
}

/// Parses the fields of untrusted bytes in sequence; integers are in little endian. Malformed data
/// is refused before use.
package struct ByteParser: Sendable {
  private let bytes: ArraySlice<UInt8>
  /// The index of the next byte.
  private var next: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    next = bytes.startIndex
  }

  package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  package var isAtEnd: Bool { remaining == 0 }
  package var remaining: Int { bytes.endIndex - next }
  /// The number of bytes that were read so far.
  package var position: Int { next - bytes.startIndex }
  /// The bytes that were read so far.
  package var consumed: ArraySlice<UInt8> { bytes[..<next] }

  package mutating func slice(_ count: Int) throws(FormatError) -> ArraySlice<UInt8> {
    try skip(count)
    return bytes[next - count..<next]
  }

  package mutating func raw(_ count: Int) throws(FormatError) -> [UInt8] {
    Array(try slice(count))
  }

  package mutating func skip(_ count: Int) throws(FormatError) {
    guard count >= 0, count <= remaining else { throw .wrong }
    next += count
  }

  package mutating func integer<Value: FixedWidthInteger>(
    _ type: Value.Type
  ) throws(FormatError) -> Value {
    let count = Value.bitWidth / 8
    try skip(count)
    var value: Value = 0
    for offset in 0..<count {
      value |= Value(truncatingIfNeeded: bytes[next - count + offset]) << (8 * offset)
    }
    return value
  }

  package mutating func text(byteCount: Int) throws(FormatError) -> String {
    guard let text = String(validating: try slice(byteCount), as: UTF8.self) else { throw .wrong }
    return text
  }
}

/// Encodes fields in sequence; integers are in little endian.
package struct ByteWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func integer(_ value: some FixedWidthInteger) {
    bytes.append(littleEndian: value)
  }

  package mutating func raw(_ bytes: some Sequence<UInt8>) { self.bytes += bytes }

  package mutating func zeros(upTo byteCount: Int) {
    bytes += [UInt8](repeating: 0, count: byteCount - bytes.count)
  }
}
