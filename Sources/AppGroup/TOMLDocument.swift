/// A value of a TOML document, with the line it stands on.
package struct TOMLValue: Sendable {
  package enum Content: Sendable {
    case integer(Int)
    case string(String)
    case boolean(Bool)
    case array([TOMLValue])
    case table([String: TOMLValue])
  }
  package var content: Content
  package let line: Int

  package var integer: Int? { if case .integer(let value) = content { value } else { nil } }
  package var string: String? { if case .string(let value) = content { value } else { nil } }
  package var array: [TOMLValue]? { if case .array(let value) = content { value } else { nil } }
  package var table: [String: TOMLValue]? {
    if case .table(let value) = content { value } else { nil }
  }
}

/// A text that is no TOML, or TOML beyond what is read here.
package struct TOMLError: Error, Hashable, Sendable {
  package let line: Int
  package let reason: String
}

/// Reads the part of TOML 1.0 (toml.io) that manifests need: comments, `[tables]`, keys bare,
/// quoted or dotted, integers, one-line strings, booleans and arrays. Floats, dates, inline tables,
/// arrays of tables and multi-line strings are refused by name. Whatever the bytes, it ends with a
/// document or an error that names the line (docs/decisions/0011-own-toml-reader.md).
package struct TOMLDocument: Sendable {
  package let root: [String: TOMLValue]

  package init(parsing bytes: [UInt8]) throws(TOMLError) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw TOMLError(line: Self.lineOfInvalidText(bytes), reason: "the line is not UTF-8 text")
    }
    var parser = TOMLParser(text)
    root = try parser.document()
  }

  private static func lineOfInvalidText(_ bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
  }
}
