/// What a text breaks of the rule for the names of streams and other things of a group: 1…48 bytes
/// of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or digit. Each is a file's name too,
/// and the path of a stream's socket has room for 107 bytes.
package enum NameRule: Hashable, Sendable {
  case length
  case characters

  package static let maximumBytes = 48

  /// - Returns: nil if the text keeps the rule.
  package init?(brokenBy text: String) {
    guard (1...Self.maximumBytes).contains(text.utf8.count) else {
      self = .length
      return
    }
    for (index, byte) in text.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): continue
      case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): if index > 0 { continue }
      default: break
      }
      self = .characters
      return
    }
    return nil
  }
}
