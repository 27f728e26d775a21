/// Text as a log may have it: without what addresses and headers prove who they are with.
package enum LoggedText {
  /// Schemes whose addresses are places on this machine, with nothing secret in them.
  private static let localSchemes: Set<Substring> = [
    "camera", "file", "hls", "null", "pipewire", "png", "pulse", "screen", "test", "window", "y4m",
  ]

  /// A source or destination as the command line has it: of an address on the network only the
  /// host, because paths and queries may be keys; of a pipeline only its first element.
  package static func address(_ text: String) -> String {
    guard let colon = text.firstIndex(of: ":") else { return text }
    let scheme = text[..<colon]
    let rest = text[text.index(after: colon)...]
    if localSchemes.contains(scheme) { return text }
    if scheme == "gst" {
      let first = rest.drop(while: \.isWhitespace).prefix { $0.isLetter || $0.isNumber }
      return "gst:\(first) …"
    }
    guard let marks = text.firstRange(of: "://"), !text.contains("@") else { return "\(scheme):…" }
    let host = text[marks.upperBound...].prefix { !"/?#\\".contains($0) && !$0.isWhitespace }
    let whole = text[..<marks.upperBound] + host
    return whole.endIndex == text.endIndex ? text : whole + "/…"
  }

  /// A message, in which no address keeps its user and password.
  package static func masked(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")), text.contains("://") else { return text }
    var result = ""
    var rest = text[...]
    while let marks = rest.firstRange(of: "://") {
      result += rest[..<marks.upperBound]
      rest = rest[marks.upperBound...]
      let authority = rest.prefix { !$0.isWhitespace && !"\"'<>".contains($0) }
      guard let at = authority.lastIndex(of: "@") else { continue }
      result += "…"
      rest = rest[at...]
    }
    return result + rest
  }

  private static let secretHeaders: Set<String> = [
    "authorization", "cookie", "link", "location", "proxy-authenticate", "proxy-authorization",
    "set-cookie", "www-authenticate",
  ]

  /// A line of an HTTP head: its first one without the path, a header that may hold a key without
  /// its value.
  package static func header(_ line: String) -> String {
    if line.hasPrefix("HTTP/") { return line }
    guard let colon = line.firstIndex(of: ":"), !line[..<colon].contains(" ") else {
      let words = line.split(separator: " ")
      return words.count == 3 ? "\(words[0]) … \(words[2])" : ""
    }
    let name = line[..<colon]
    return secretHeaders.contains(name.lowercased()) ? "\(name): <private>" : line
  }

  /// Whether a library's own text holds a header that may hold a key, or the path of a request, as
  /// libcurl's has them with HTTP/2: `[HTTP/2] [1] [authorization: Bearer …]`.
  package static func repeatsHeader(_ text: String) -> Bool {
    text.split(separator: "[").contains { part in
      let rest = part.drop { $0 == ":" || $0.isWhitespace }
      let name = rest.prefix { $0 != ":" && $0 != "]" && !$0.isWhitespace }
      guard name.endIndex < rest.endIndex, rest[name.endIndex] == ":" else { return false }
      return name == "path" || secretHeaders.contains(name.lowercased())
    }
  }

  /// A whole HTTP head.
  package static func headers(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { header(String($0)) }.joined(separator: " ")
  }
}
