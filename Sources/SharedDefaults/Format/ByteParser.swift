import Platform

/// Parses values that any member of the group may have written. Malformed data is refused before
/// use, and so is a count that exceeds the remaining bytes.
struct ByteParser {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  /// The number of values that may still follow.
  private var valuesLeft = SuiteFormat.maximumValues

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  var isAtEnd: Bool { position == bytes.endIndex }
  private var remaining: Int { bytes.endIndex - position }

  mutating func raw(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw Malformed() }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(Malformed) -> Value {
    Value(littleEndian: try raw(Value.bitWidth / 8))
  }

  /// A count of elements of at least one byte each.
  mutating func count() throws(Malformed) -> Int {
    let count = Int(try integer(UInt32.self))
    guard count <= remaining else { throw Malformed() }
    return count
  }

  mutating func text() throws(Malformed) -> String {
    let bytes = try raw(count())
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed() }
    return text
  }

  mutating func key() throws(Malformed) -> String {
    let text = try text()
    guard SuiteFormat.isKey(text) else { throw Malformed() }
    return text
  }

  mutating func tag() throws(Malformed) -> ValueTag {
    guard let tag = ValueTag(rawValue: try integer(UInt8.self)) else { throw Malformed() }
    return tag
  }

  mutating func value(depth: Int = 0) throws(Malformed) -> DefaultsValue {
    guard let value = try change(depth: depth) else { throw Malformed() }
    return value
  }

  /// The new value of a key; nil if the key is removed.
  mutating func change(depth: Int = 0) throws(Malformed) -> DefaultsValue? {
    valuesLeft -= 1
    guard valuesLeft >= 0, depth <= SuiteFormat.maximumDepth else { throw Malformed() }
    switch try tag() {
    case .removed: return nil
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .integer: return .integer(Int(try integer(Int64.self)))
    case .double: return .double(Double(bitPattern: try integer(UInt64.self)))
    case .string: return .string(try text())
    case .data: return .data(Array(try raw(count())))
    case .date: return .date(Double(bitPattern: try integer(UInt64.self)))
    case .url: return .url(try text())
    case .array:
      var values: [DefaultsValue] = []
      for _ in 0..<(try count()) { values.append(try value(depth: depth + 1)) }
      return .array(values)
    case .dictionary: return .dictionary(try entries(depth: depth + 1))
    }
  }

  /// Keys and values as written by `ByteWriter.entries`. A repeated key is malformed.
  mutating func entries(depth: Int = 0) throws(Malformed) -> [String: DefaultsValue] {
    var values: [String: DefaultsValue] = [:]
    let count = try count()
    for _ in 0..<count {
      let key = try key()
      values[key] = try value(depth: depth)
    }
    guard values.count == count else { throw Malformed() }
    return values
  }
}

/// The bytes do not have the expected format.
struct Malformed: Error {}
