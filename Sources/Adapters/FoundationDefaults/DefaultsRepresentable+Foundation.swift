import FoundationEssentials
import SharedDefaults

// The settings of a group in Foundation's types, and as property lists and JSON.
//
// This module refuses to store anything itself, and to support formats that Foundation lacks.

extension Data: DefaultsRepresentable {
  public var defaultsValue: DefaultsValue { .data(Array(self)) }
}

extension Date: DefaultsRepresentable {
  public var defaultsValue: DefaultsValue { .date(timeIntervalSince1970) }
}

extension URL: DefaultsRepresentable {
  public var defaultsValue: DefaultsValue { .url(absoluteString) }
}

extension SharedDefaults {
  public func data(forKey key: String) -> Data? { bytes(forKey: key).map { Data($0) } }

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
