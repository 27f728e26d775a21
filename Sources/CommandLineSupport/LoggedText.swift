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

  /// The ways in which a library may write a secret that it was given: as it is, as part of an
  /// address (RFC 3986), and as GStreamer puts a value into words.
  package static func spellings(of secret: String) -> Set<String> {
    func written(_ escape: (UInt8) -> String) -> String {
      secret.utf8.map(escape).joined()
    }
    let inAddress = written { byte in
      isLetterOrDigit(byte) || "-._~".utf8.contains(byte)
        ? plain(byte) : "%" + String(Int(byte) + 0x100, radix: 16, uppercase: true).dropFirst()
    }
    let quoted = written { byte in
      if isLetterOrDigit(byte) || "_-+/:.".utf8.contains(byte) { return plain(byte) }
      return (0x20..<0x7f).contains(byte)
        ? "\\" + plain(byte) : "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst()
    }
    return Set([secret, inAddress, quoted]).filter { !$0.isEmpty }
  }

  private static func plain(_ byte: UInt8) -> String { String(decoding: [byte], as: UTF8.self) }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: false
    }
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
