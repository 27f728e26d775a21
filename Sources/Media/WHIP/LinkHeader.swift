/// Parses ICE servers from `Link` headers (RFC 8288; RFC 9725, section 4.6):
/// `<turn:HOST?transport=udp>; rel="ice-server"; username="user"; credential="secret"`.
package enum LinkHeader {
  package static let maximumServers = 16

  package static func servers(in headers: [String]) -> [ICEServer] {
    var found: [ICEServer] = []
    for header in headers {
      var reader = Reader(header)
      while found.count < maximumServers, let link = reader.link() {
        if let server = server(of: link) { found.append(server) }
      }
    }
    return found
  }

  private static func server(of link: Link) -> ICEServer? {
    let relations = link.parameters["rel"]?.lowercased().split(separator: " ") ?? []
    let type = link.parameters["credential-type"]?.lowercased() ?? "password"
    guard relations.contains("ice-server"), type == "password",
      var server = ICEServer(link.target)
    else { return nil }
    server.username = link.parameters["username"] ?? ""
    server.password = link.parameters["credential"] ?? ""
    return server
  }

  struct Link {
    var target: String
    /// Values by lowercase name. If a name is repeated, the first value counts.
    var parameters: [String: String] = [:]
  }

  /// Parses a list of links one by one. Malformed text ends the list.
  private struct Reader {
    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    mutating func link() -> Link? {
      skip { $0.isWhitespace || $0 == "," }
      guard rest.popFirst() == "<", let end = rest.firstIndex(of: ">") else { return nil }
      var link = Link(target: String(rest[..<end]))
      rest = rest[rest.index(after: end)...]
      while true {
        skip(\.isWhitespace)
        guard rest.first == ";" else { break }
        rest = rest.dropFirst()
        skip(\.isWhitespace)
        let name = take { !$0.isWhitespace && !"=;,".contains($0) }.lowercased()
        skip(\.isWhitespace)
        var value = ""
        if rest.first == "=" {
          rest = rest.dropFirst()
          skip(\.isWhitespace)
          value = rest.first == "\"" ? quoted() : take { !$0.isWhitespace && !";,".contains($0) }
        }
        if link.parameters[name] == nil { link.parameters[name] = value }
      }
      return link
    }

    private mutating func quoted() -> String {
      rest = rest.dropFirst()
      var value = ""
      while let next = rest.popFirst(), next != "\"" {
        if next == "\\" {
          if let escaped = rest.popFirst() { value.append(escaped) }
        } else {
          value.append(next)
        }
      }
      return value
    }

    private mutating func skip(_ condition: (Character) -> Bool) {
      rest = rest.drop(while: condition)
    }

    private mutating func take(_ condition: (Character) -> Bool) -> String {
      let taken = rest.prefix(while: condition)
      rest = rest[taken.endIndex...]
      return String(taken)
    }
  }
}
