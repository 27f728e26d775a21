import Platform

/// The value of a key: the types of a property list, and URLs.
public enum DefaultsValue: Hashable, Sendable {
  /// True or false.
  case bool(Bool)
  /// A whole number of 64 bits.
  case integer(Int)
  /// A number of IEEE 754.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// A time, in seconds since 1970-01-01 00:00 UTC.
  case date(Double)
  /// An absolute or relative URL, as text.
  case url(String)
  /// Values in an order.
  case array([DefaultsValue])
  /// Values by key.
  case dictionary([String: DefaultsValue])

  /// Whether both values have the same encoding. Unlike `==`, this is true for two NaN, and false
  /// for strings that are only canonically equivalent.
  func isSame(as other: DefaultsValue?) -> Bool {
    guard let other else { return false }
    // Without allocations for the usual values.
    switch (self, other) {
    case (.bool(let one), .bool(let two)): return one == two
    case (.integer(let one), .integer(let two)): return one == two
    case (.double(let one), .double(let two)): return one.bitPattern == two.bitPattern
    default: return encoding == other.encoding
    }
  }

  /// Whether it has neither text nor bytes nor elements.
  var hasFixedSize: Bool {
    switch self {
    case .bool, .integer, .double, .date: true
    case .string, .data, .url, .array, .dictionary: false
    }
  }

  /// The bytes of the value in a suite's file.
  package var encoding: [UInt8] { ByteWriter(writing: self).bytes }

  /// - Returns: nil for malformed bytes, such as those of a value that is nested too deeply.
  package init?(encoding: [UInt8]) {
    var parser = ValueParser(encoding[...])
    guard let value = try? parser.value(), parser.bytes.isAtEnd else { return nil }
    self = value
  }

  /// The first key that looks like a secret, among the value's own and those inside it; nil for
  /// none. Suites refuse such keys.
  package func secretKey(named key: String) -> String? {
    SecretKeys.byAppearance.find(in: key, self)
  }
}

/// A type that can be stored as a value of a key.
public protocol DefaultsRepresentable {
  /// The value as settings store it.
  var defaultsValue: DefaultsValue { get }
}

extension DefaultsValue: DefaultsRepresentable {
  /// The value itself.
  public var defaultsValue: DefaultsValue { self }
}
extension Bool: DefaultsRepresentable {
  /// A Boolean.
  public var defaultsValue: DefaultsValue { .bool(self) }
}
extension Int: DefaultsRepresentable {
  /// A whole number.
  public var defaultsValue: DefaultsValue { .integer(self) }
}
extension Double: DefaultsRepresentable {
  /// A number.
  public var defaultsValue: DefaultsValue { .double(self) }
}
extension Float: DefaultsRepresentable {
  /// A number, with twice the bits.
  public var defaultsValue: DefaultsValue { .double(Double(self)) }
}
extension String: DefaultsRepresentable {
  /// A text.
  public var defaultsValue: DefaultsValue { .string(self) }
}
extension Array: DefaultsRepresentable where Element: DefaultsRepresentable {
  /// The values in their order.
  public var defaultsValue: DefaultsValue { .array(map(\.defaultsValue)) }
}
extension Dictionary: DefaultsRepresentable where Key == String, Value: DefaultsRepresentable {
  /// The values by their keys.
  public var defaultsValue: DefaultsValue { .dictionary(mapValues(\.defaultsValue)) }
}

extension DefaultsValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Values in an order.
  public init(arrayLiteral elements: DefaultsValue...) { self = .array(elements) }
  /// Values by key; of a key that stands twice, the last.
  public init(dictionaryLiteral elements: (String, DefaultsValue)...) {
    self = .dictionary(Dictionary(elements) { _, last in last })
  }
}
