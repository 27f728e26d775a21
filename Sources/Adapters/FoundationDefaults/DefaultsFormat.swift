import FoundationEssentials
import SharedDefaults

/// A format for exporting and importing the values of a suite.
public enum DefaultsFormat: String, CaseIterable, Sendable {
  /// JSON, RFC 8259.
  case json
  /// A property list as XML.
  case xml
  /// A binary property list.
  case binary

  /// The maximum size of an import.
  public static let maximumBytes = 16 << 20

  /// Encodes values.
  public func bytes(of values: [String: DefaultsValue]) throws -> [UInt8] {
    let coded = values.mapValues { CodableValue($0, isJSON: self == .json) }
    switch self {
    case .json:
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return Array(try encoder.encode(coded)) + [UInt8(ascii: "\n")]
    case .xml, .binary:
      let encoder = PropertyListEncoder()
      encoder.outputFormat = self == .xml ? .xml : .binary
      return Array(try encoder.encode(coded))
    }
  }

  /// Reads settings in any of the formats, which is detected from the first bytes.
  /// - Throws: ``UnreadableDefaults``.
  public static func values(in bytes: [UInt8]) throws(UnreadableDefaults)
    -> [String: DefaultsValue]
  {
    if bytes.count > maximumBytes {
      throw UnreadableDefaults("it has more than \(maximumBytes) bytes")
    }
    let start = String(decoding: bytes.prefix(256), as: UTF8.self).drop(while: \.isWhitespace)
    let isPropertyList = ["bplist", "<?xml", "<!DOCTYPE", "<plist"].contains {
      start.hasPrefix($0)
    }
    do {
      let coded =
        isPropertyList
        ? try PropertyListDecoder().decode([String: CodableValue].self, from: Data(bytes))
        : try JSONDecoder().decode([String: CodableValue].self, from: Data(bytes))
      return coded.mapValues(\.unmarked)
    } catch {
      throw UnreadableDefaults(
        isPropertyList
          ? "it is not a property list with a dictionary of values"
          : "it is neither a property list nor a JSON object of values (null is not allowed)")
    }
  }
}

/// The bytes are not settings.
public struct UnreadableDefaults: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let description: String

  init(_ why: String) {
    description =
      "these settings cannot be read: \(why); see `framebus defaults export SUITE` for an example"
  }
}
