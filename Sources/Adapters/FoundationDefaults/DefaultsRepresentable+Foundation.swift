import FoundationEssentials
import SharedDefaults

// The settings of a group in Foundation's types, and as property lists and JSON.
//
// This module refuses to store anything itself, and to support formats that Foundation lacks.

extension Data: DefaultsRepresentable {
  /// Bytes.
  public var defaultsValue: DefaultsValue { .data(Array(self)) }
}

extension Date: DefaultsRepresentable {
  /// A date.
  public var defaultsValue: DefaultsValue { .date(timeIntervalSince1970) }
}

extension URL: DefaultsRepresentable {
  /// An address.
  public var defaultsValue: DefaultsValue { .url(absoluteString) }
}

extension SharedDefaults {
  /// Nil unless the key has bytes.
  public func data(forKey key: String) -> Data? { bytes(forKey: key).map { Data($0) } }

  /// Nil unless the key has a date.
  public func date(forKey key: String) -> Date? {
    if case .date(let seconds) = value(forKey: key) {
      Date(timeIntervalSince1970: seconds)
    } else {
      nil
    }
  }

  /// The URL for a key, also if it is stored as a string.
  public func url(forKey key: String) -> URL? {
    switch value(forKey: key) {
    case .url(let text), .string(let text): URL(string: text)
    default: nil
    }
  }
}
