/// Why bytes are not in an expected format.
package enum FormatError: Error, Hashable, Sendable {
  case wrong
  /// The format has a newer version than this program supports.
  case newer
}

/// Parses the fields of untrusted bytes in sequence; integers are in little endian. Malformed data
/// is refused before use.
package struct ByteParser: Sendable {
  private var rest: ArraySlice<UInt8>
  private let whole: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) {
    whole = bytes
    rest = bytes
  }

  package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  package var isAtEnd: Bool { rest.isEmpty }
  package var remaining: Int { rest.count }
  /// The number of bytes that were read so far.
  package var position: Int { whole.count - rest.count }
  /// The bytes that were read so far.
  package var consumed: ArraySlice<UInt8> { whole.prefix(position) }

  package mutating func slice(_ count: Int) throws(FormatError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= rest.count else { throw .wrong }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  package mutating func raw(_ count: Int) throws(FormatError) -> [UInt8] {
    Array(try slice(count))
  }

  package mutating func skip(_ count: Int) throws(FormatError) { _ = try slice(count) }

  package mutating func integer<Value: FixedWidthInteger>(
    _ type: Value.Type
  ) throws(FormatError) -> Value {
    Value(littleEndian: try slice(Value.bitWidth / 8))
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
