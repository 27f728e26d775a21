import FoundationEssentials
import SharedDefaults

/// A value in the form that coders take. A type that the format lacks is marked by a dictionary
/// with one key that names the type: `{"@url": "https://example.com"}`.
public struct CodableValue: Codable, Sendable {
  /// The value.
  public let value: DefaultsValue

  /// - Parameter isJSON: JSON has no data, no dates, and finite numbers only.
  public init(_ value: DefaultsValue, isJSON: Bool) {
    self.value = isJSON ? Self.forJSON(value) : Self.forPropertyList(value)
  }

  private enum Mark {
    static let url = "@url"
    static let data = "@data"
    static let date = "@date"
    static let double = "@double"
  }

  private static func forJSON(_ value: DefaultsValue) -> DefaultsValue {
    switch value {
    case .data(let bytes): [Mark.data: .string(Data(bytes).base64EncodedString())]
    case .date(let seconds): [Mark.date: forJSON(.double(seconds))]
    case .double(let number) where !number.isFinite: [Mark.double: .string("\(number)")]
    case .url(let text): [Mark.url: .string(text)]
    case .array(let values): .array(values.map(forJSON))
    case .dictionary(let values): .dictionary(values.mapValues(forJSON))
    default: value
    }
  }

  private static func forPropertyList(_ value: DefaultsValue) -> DefaultsValue {
    switch value {
    case .url(let text): [Mark.url: .string(text)]
    case .array(let values): .array(values.map(forPropertyList))
    case .dictionary(let values): .dictionary(values.mapValues(forPropertyList))
    default: value
    }
  }

  /// The value with marked values converted to their types.
  public var unmarked: DefaultsValue { Self.unmarked(value) }

  private static func unmarked(_ value: DefaultsValue) -> DefaultsValue {
    switch value {
    case .array(let values): return .array(values.map(unmarked))
    case .dictionary(let values):
      if values.count == 1, let (mark, value) = values.first, let typed = typedValue(mark, value) {
        return typed
      }
      return .dictionary(values.mapValues(unmarked))
    default: return value
    }
  }

  private static func typedValue(_ mark: String, _ value: DefaultsValue) -> DefaultsValue? {
    switch (mark, unmarked(value)) {
    case (Mark.url, .string(let text)): .url(text)
    case (Mark.data, .string(let text)): Data(base64Encoded: text).map { .data(Array($0)) }
    case (Mark.date, .integer(let seconds)): .date(Double(seconds))
    case (Mark.date, .double(let seconds)): .date(seconds)
    case (Mark.double, .string(let text)): Double(text).map { .double($0) }
    default: nil
    }
  }

  /// Decodes a value of any kind.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The order matters, because coders convert: they decode a whole number as Double, but do not
    // decode a number as Bool.
    if let value = try? container.decode(Bool.self) {
      self.value = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self.value = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self.value = .double(value)
    } else if let value = try? container.decode(String.self) {
      self.value = .string(value)
    } else if let value = try? container.decode([CodableValue].self) {
      self.value = .array(value.map(\.value))
    } else if let value = try? container.decode([String: CodableValue].self) {
      self.value = .dictionary(value.mapValues(\.value))
    } else if let value = try? container.decode(Date.self) {
      self.value = .date(value.timeIntervalSince1970)
    } else {
      self.value = .data(Array(try container.decode(Data.self)))
    }
  }

  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let text), .url(let text): try container.encode(text)
    case .data(let bytes): try container.encode(Data(bytes))
    case .date(let seconds): try container.encode(Date(timeIntervalSince1970: seconds))
    case .array(let values): try container.encode(values.map(CodableValue.init(verbatim:)))
    case .dictionary(let values):
      try container.encode(values.mapValues(CodableValue.init(verbatim:)))
    }
  }

  private init(verbatim value: DefaultsValue) { self.value = value }
}
