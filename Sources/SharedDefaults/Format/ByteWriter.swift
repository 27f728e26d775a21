import Platform

/// Encodes values in sequence: integers in little endian, strings and data as a 32-bit byte count
/// followed by the bytes.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  init() {}

  init(writing value: DefaultsValue) { self.value(value) }

  mutating func integer(_ value: some FixedWidthInteger) {
    bytes.append(littleEndian: value)
  }

  mutating func raw(_ bytes: [UInt8]) { self.bytes += bytes }

  mutating func zeros(upTo byteCount: Int) {
    bytes += [UInt8](repeating: 0, count: byteCount - bytes.count)
  }

  mutating func text(_ text: String) {
    integer(UInt32(text.utf8.count))
    bytes += text.utf8
  }

  mutating func value(_ value: DefaultsValue) {
    switch value {
    case .bool(let value): bytes.append((value ? ValueTag.true : .false).rawValue)
    case .integer(let value):
      bytes.append(ValueTag.integer.rawValue)
      integer(Int64(value))
    case .double(let value):
      bytes.append(ValueTag.double.rawValue)
      integer(value.bitPattern)
    case .string(let value):
      bytes.append(ValueTag.string.rawValue)
      text(value)
    case .data(let value):
      bytes.append(ValueTag.data.rawValue)
      integer(UInt32(value.count))
      bytes += value
    case .date(let seconds):
      bytes.append(ValueTag.date.rawValue)
      integer(seconds.bitPattern)
    case .url(let value):
      bytes.append(ValueTag.url.rawValue)
      text(value)
    case .array(let values):
      bytes.append(ValueTag.array.rawValue)
      integer(UInt32(values.count))
      for value in values { self.value(value) }
    case .dictionary(let values):
      bytes.append(ValueTag.dictionary.rawValue)
      entries(values)
    }
  }

  /// Keys and values, sorted by key, after their count.
  mutating func entries(_ values: [String: DefaultsValue]) {
    integer(UInt32(values.count))
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      text(key)
      self.value(value)
    }
  }
}

/// The byte before a value; 0 means that the key is removed.
enum ValueTag: UInt8 {
  case removed, `false`, `true`, integer, double, string, data, date, url, array, dictionary
}
