/// A value of a TOML document and its line.
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
  package var boolean: Bool? { if case .boolean(let value) = content { value } else { nil } }
  package var array: [TOMLValue]? { if case .array(let value) = content { value } else { nil } }
  package var table: [String: TOMLValue]? {
    if case .table(let value) = content { value } else { nil }
  }
}

/// An error for malformed TOML, or for TOML features that are not supported.
package struct TOMLError: Error, Hashable, Sendable {
  package let line: Int
  package let reason: String
}

/// Parses the part of TOML 1.0 (toml.io) that manifests need: comments, `[tables]`, bare, quoted
/// and dotted keys, integers, one-line strings, booleans and arrays. Floats, dates, inline tables,
/// arrays of tables and multi-line strings are refused by name. Any input yields a document or an
/// error that names the line (docs/decisions/0011-own-toml-reader.md).
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
