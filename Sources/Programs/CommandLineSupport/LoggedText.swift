import Capture
import Platform
import Upload

/// Removes authentication from addresses and headers before they are logged.
package enum LoggedText {
  /// A source or destination from the command line, without what may be a secret.
  package static func address(_ text: String) -> String {
    SourceKind.isPublic(text) || DestinationKind.isPublic(text) ? text : text.withoutSecrets
  }

  /// A message without the user and password of any address.
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

  /// The forms in which a library may print a secret: verbatim, percent-encoded (RFC 3986), and
  /// escaped as GStreamer serialises values.
  package static func encodings(of secret: String) -> Set<String> {
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

  /// A line of an HTTP head: a request line without its path, or a header without its value if it
  /// may hold a key.
  package static func header(_ line: String) -> String {
    if line.hasPrefix("HTTP/") { return line }
    guard let colon = line.firstIndex(of: ":"), !line[..<colon].contains(" ") else {
      let words = line.split(separator: " ")
      return words.count == 3 ? "\(words[0]) … \(words[2])" : ""
    }
    let name = line[..<colon]
    return secretHeaders.contains(name.lowercased()) ? "\(name): <private>" : line
  }

  /// Whether a library's text repeats a header that may hold a key, or a request path, as libcurl's
  /// does with HTTP/2: `[HTTP/2] [1] [authorization: Bearer …]`.
  package static func repeatsHeader(_ text: String) -> Bool {
    text.split(separator: "[").contains { part in
      let rest = part.drop { $0 == ":" || $0.isWhitespace }
      let name = rest.prefix { $0 != ":" && $0 != "]" && !$0.isWhitespace }
      guard name.endIndex < rest.endIndex, rest[name.endIndex] == ":" else { return false }
      return name == "path" || secretHeaders.contains(name.lowercased())
    }
  }

  /// A complete HTTP head.
  package static func headers(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { header(String($0)) }.joined(separator: " ")
  }
}
