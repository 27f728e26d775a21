import FoundationEssentials
import Platform

extension Terminal {
  /// Writes a value to standard output as JSON with sorted keys and a final newline. Control
  /// characters in strings are escaped, on a terminal or not; the values stay the same.
  /// - Parameter onOneLine: whether to use one line, for readers that read line by line.
  public func printJSON(_ value: some Encodable, onOneLine: Bool = false) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if !onOneLine { encoder.outputFormatting.insert(.prettyPrinted) }
    try writeFully(plainJSON(Array(encoder.encode(value))) + [UInt8(ascii: "\n")], to: 1)
  }
}

/// Decodes JSON that a command printed, and a user kept in a file.
package func decodeJSON<Value: Decodable>(
  _ type: Value.Type, from bytes: [UInt8], path: String
) throws(NotJSON) -> Value {
  do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch {
    throw NotJSON(path: path)
  }
}

package struct NotJSON: Error, CustomStringConvertible {
  package let path: String

  package var description: String {
    "\(path) is not JSON of this command, or of another version; run it again with --json"
  }
}

/// Decodes the last line that is a JSON object, the final output of a command with `--json`.
package func lastObject<Record: Decodable>(
  _ type: Record.Type, in text: String, of program: String
) throws(NoFigures) -> Record {
  for line in text.split(separator: "\n").reversed() where line.hasPrefix("{") {
    if let record = try? JSONDecoder().decode(type, from: Data(line.utf8)) { return record }
  }
  throw NoFigures(program: program, text: String(text.suffix(200)))
}

/// A program ended without its final JSON object.
package struct NoFigures: Error, CustomStringConvertible {
  package let program: String
  package let text: String

  package init(program: String, text: String) {
    self.program = program
    self.text = text
  }

  package var description: String { "\(program) ended without printing its figures: “\(text)”" }
}
