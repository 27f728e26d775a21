import Platform

/// Parses values that any member of the group may have written. Malformed data is refused before
/// use, and so is a count that exceeds the remaining bytes.
struct ValueParser {
  var bytes: ByteParser
  /// The number of values that may still follow.
  private var valuesLeft = SuiteFormat.maximumValues

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = ByteParser(bytes) }

  /// A count of elements of at least one byte each.
  mutating func count() throws(FormatError) -> Int {
    let count = Int(try bytes.integer(UInt32.self))
    guard count <= bytes.remaining else { throw .wrong }
    return count
  }

  mutating func text() throws(FormatError) -> String {
    try bytes.text(byteCount: count())
  }

  mutating func key() throws(FormatError) -> String {
    let text = try text()
    guard SuiteFormat.isKey(text) else { throw .wrong }
    return text
  }

  mutating func tag() throws(FormatError) -> ValueTag {
    guard let tag = ValueTag(rawValue: try bytes.integer(UInt8.self)) else { throw .wrong }
    return tag
  }

  mutating func value(depth: Int = 0) throws(FormatError) -> DefaultsValue {
    guard let value = try change(depth: depth) else { throw .wrong }
    return value
  }

  /// The new value of a key; nil if the key is removed.
  mutating func change(depth: Int = 0) throws(FormatError) -> DefaultsValue? {
    valuesLeft -= 1
    guard valuesLeft >= 0, depth <= SuiteFormat.maximumDepth else { throw .wrong }
    switch try tag() {
    case .removed: return nil
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .integer: return .integer(Int(try bytes.integer(Int64.self)))
    case .double: return .double(Double(bitPattern: try bytes.integer(UInt64.self)))
    case .string: return .string(try text())
    case .data: return .data(try bytes.raw(count()))
    case .date: return .date(Double(bitPattern: try bytes.integer(UInt64.self)))
    case .url: return .url(try text())
    case .array:
      var values: [DefaultsValue] = []
      for _ in 0..<(try count()) { values.append(try value(depth: depth + 1)) }
      return .array(values)
    case .dictionary: return .dictionary(try entries(depth: depth + 1))
    }
  }

  /// Keys and values as written by `ByteWriter.entries`. A repeated key is malformed.
  mutating func entries(depth: Int = 0) throws(FormatError) -> [String: DefaultsValue] {
    var values: [String: DefaultsValue] = [:]
    let count = try count()
    for _ in 0..<count {
      let key = try key()
      values[key] = try value(depth: depth)
    }
    guard values.count == count else { throw .wrong }
    return values
  }
}
