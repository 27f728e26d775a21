/// The part of the name rule that a text breaks. A name of a stream or another object of a group
/// has 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, and begins with a letter or digit. It is also
/// a file name, and the path of a stream's socket has at most 107 bytes (unix(7)).
package enum NameRule: Hashable, Sendable {
  case length
  case characters

  package static let maximumBytes = 48

  /// - Returns: nil if the text conforms to the rule.
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
