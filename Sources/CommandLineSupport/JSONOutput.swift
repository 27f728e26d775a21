import FoundationEssentials
import Platform

extension Terminal {
  /// Writes a value to standard output as JSON, keys sorted, ended by a newline.
  public func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try write(Array(encoder.encode(value)) + [UInt8(ascii: "\n")])
  }
}
