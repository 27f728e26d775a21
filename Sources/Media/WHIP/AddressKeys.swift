/// Keys in the path of an address, by which many servers tell their users apart: text that people
/// and logs may see is without them. What looks like none, such as words and short numbers, stays.
package enum AddressKeys {
  /// A path in which only the beginning of each is left, and no query.
  package static func shortened(in path: String) -> String {
    let shown = path.prefix { $0 != "?" }
    let parts = shown.split(separator: "/", omittingEmptySubsequences: false).map {
      mayBeKey($0) ? $0.prefix(3) + "…" : $0
    }
    return parts.joined(separator: "/") + (shown.count < path.count ? "?…" : "")
  }

  /// Those of a path and its query, as they stand there and as servers and libraries read them. A
  /// value of the query may be one as a whole, too, as a stream's name of SRT.
  package static func found(in path: String) -> [String] {
    let query = path.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    let values = query.split(separator: "&").compactMap { field in
      field.firstIndex(of: "=").map { String(field[field.index(after: $0)...]) }
    }
    let decoded = values.map(Self.decoded)
    let parts = split(path, at: "/?&=#") + decoded.flatMap { split($0, at: "/=,") }
    // The longest first, so that none is left in pieces.
    return Set(parts + values + decoded).filter { mayBeKey($0) }
      .sorted { ($0.count, $0) > ($1.count, $1) }
  }

  private static func split(_ text: String, at separators: String) -> [String] {
    text.split { separators.contains($0) }.map(String.init)
  }

  private static func mayBeKey(_ part: some StringProtocol) -> Bool {
    part.count > 16 || part.count > 6 && part.contains(where: \.isNumber)
  }

  /// A text of an address without its escapes (RFC 3986, section 2.1).
  package static func decoded(_ text: String) -> String {
    var rest = Array(text.utf8)[...]
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2, digits.first != UInt8(ascii: "+"),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String {
  /// As people and logs may see it.
  package func without(_ secrets: [String]) -> String {
    secrets.filter { !$0.isEmpty }.reduce(self) { $0.replacing($1, with: "…") }
  }
}
