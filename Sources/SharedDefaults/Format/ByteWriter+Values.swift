import Platform

/// Values: strings and data as a 32-bit byte count followed by the bytes.
extension ByteWriter {
  init(writing value: DefaultsValue) {
    self.init()
    self.value(value)
  }

  mutating func text(_ text: String) {
    integer(UInt32(text.utf8.count))
    raw(text.utf8)
  }

  mutating func value(_ value: DefaultsValue) {
    switch value {
    case .bool(let value): integer((value ? ValueTag.true : .false).rawValue)
    case .integer(let value):
      integer(ValueTag.integer.rawValue)
      integer(Int64(value))
    case .double(let value):
      integer(ValueTag.double.rawValue)
      integer(value.bitPattern)
    case .string(let value):
      integer(ValueTag.string.rawValue)
      text(value)
    case .data(let value):
      integer(ValueTag.data.rawValue)
      integer(UInt32(value.count))
      raw(value)
    case .date(let seconds):
      integer(ValueTag.date.rawValue)
      integer(seconds.bitPattern)
    case .url(let value):
      integer(ValueTag.url.rawValue)
      text(value)
    case .array(let values):
      integer(ValueTag.array.rawValue)
      integer(UInt32(values.count))
      for value in values { self.value(value) }
    case .dictionary(let values):
      integer(ValueTag.dictionary.rawValue)
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
