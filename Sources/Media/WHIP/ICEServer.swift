import Platform

/// A STUN or TURN server, which helps two peers to connect (RFC 7064, RFC 7065).
public struct ICEServer: Hashable, Sendable {
  public enum Kind: String, Sendable { case stun, turn, turns }

  public private(set) var kind: Kind
  public private(set) var host: String
  public private(set) var port: Int
  /// `udp` or `tcp`; nil if the address does not say.
  public private(set) var transport: String?
  public var username = ""
  /// A secret; not part of `description`.
  public var password = ""

  /// - Parameter text: `stun:HOST[:PORT]`, `turn[s]:HOST[:PORT][?transport=udp|tcp]`.
  /// - Returns: nil for any other text.
  public init?(_ text: String) {
    guard text.utf8.count <= 512, let colon = text.firstIndex(of: ":"),
      let kind = Kind(rawValue: text[..<colon].lowercased())
    else { return nil }
    let parts = text[text.index(after: colon)...].split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let authority = Authority(parts[0]) else { return nil }
    self.kind = kind
    host = authority.host
    port = authority.port ?? (kind == .turns ? 5349 : 3478)
    guard parts.count > 1 else {
      transport = nil
      return
    }
    guard kind != .stun, ["transport=udp", "transport=tcp"].contains(parts[1]) else { return nil }
    transport = String(parts[1].dropFirst("transport=".count))
  }

  var isLoopback: Bool { Authority.isLoopback(host) }

  /// The host without the brackets around an IPv6 address.
  package var hostName: String {
    host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
  }

  /// The same server with an address as its host.
  package func at(address: String) -> ICEServer {
    var server = self
    server.host = address.contains(":") ? "[\(address)]" : address
    return server
  }

  /// The same relay, reached through a tunnel that adds TLS.
  package func behind(tunnelAt port: UInt16) -> ICEServer {
    var server = at(address: "127.0.0.1")
    server.kind = .turn
    server.port = Int(port)
    server.transport = "tcp"
    return server
  }

  /// The address in GStreamer's form, with user and password escaped. A secret.
  package var locator: String {
    let user =
      kind == .stun ? "" : "\(Self.escaped(username)):\(Self.escaped(password))@"
    return "\(kind.rawValue)://\(user)\(host):\(port)"
      + (transport.map { "?transport=\($0)" } ?? "")
  }

  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var result = ""
    for byte in text.utf8 {
      let character = Character(Unicode.Scalar(byte))
      if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
        result.append(character)
      } else {
        result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return result
  }
}

extension ICEServer: CustomStringConvertible {
  public var description: String {
    "\(kind.rawValue):\(host):\(port)" + (transport.map { "?transport=\($0)" } ?? "")
  }
}

extension ICEServer: CustomDebugStringConvertible {
  public var debugDescription: String { description }
}
