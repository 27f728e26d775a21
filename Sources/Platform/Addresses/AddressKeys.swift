/// Keys in the path of an address, which many servers use to identify users. Texts for people and
/// logs leave them out. Parts that do not look like keys, such as words and short numbers, stay.
package enum AddressKeys {
  /// A path without its query, and with only the first characters of each key.
  package static func shortened(in path: String) -> String {
    let shown = path.prefix { $0 != "?" }
    let parts = shown.split(separator: "/", omittingEmptySubsequences: false).map {
      mayBeKey($0) ? $0.prefix(3) + "…" : $0
    }
    return parts.joined(separator: "/") + (shown.count < path.count ? "?…" : "")
  }

  /// The keys of a path and its query, both escaped and decoded. A whole value of the query may be
  /// a key, such as SRT's stream ID.
  package static func found(in path: String) -> [String] {
    let query = path.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    let values = query.split(separator: "&").compactMap { field in
      field.firstIndex(of: "=").map { String(field[field.index(after: $0)...]) }
    }
    let decoded = values.map(Self.decoded)
    let parts = split(path, at: "/?&=#") + decoded.flatMap { split($0, at: "/=,") }
    // The longest first, so that no key remains in part.
    return Set(parts + values + decoded).filter { mayBeKey($0) }
      .sorted { ($0.count, $0) > ($1.count, $1) }
  }

  private static func split(_ text: String, at separators: String) -> [String] {
    text.split { separators.contains($0) }.map(String.init)
  }

  private static func mayBeKey(_ part: some StringProtocol) -> Bool {
    part.count > 16 || part.count > 6 && part.contains(where: \.isNumber)
  }

  /// A part of an address with its percent-encoding decoded (RFC 3986, section 2.1).
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
  /// An address, a source or a destination as a user wrote it, without what may be a secret, even
  /// if it is malformed: of a network address the host stays, because path and query may be keys;
  /// of a pipeline the first element.
  package var withoutSecrets: String {
    guard let colon = firstIndex(of: ":") else {
      return contains { "/?@".contains($0) } ? AddressKeys.shortened(in: self) : self
    }
    let scheme = String(self[..<colon])
    if scheme == "gst" {
      let rest = self[index(after: colon)...]
      let first = rest.drop(while: \.isWhitespace).prefix { $0.isLetter || $0.isNumber }
      return "gst:\(first) …"
    }
    guard let marks = firstRange(of: "://"), !contains("@") else { return "\(scheme):…" }
    let host = self[marks.upperBound...].prefix { !"/?#\\".contains($0) && !$0.isWhitespace }
    let whole = self[..<marks.upperBound] + host
    return whole.endIndex == endIndex ? self : whole + "/…"
  }

  /// The text with each secret replaced by “…”.
  package func without(_ secrets: [String]) -> String {
    secrets.filter { !$0.isEmpty }.reduce(self) { $0.replacing($1, with: "…") }
  }
}
