/// The address of a web server's resource: `https://HOST[:PORT]/PATH[?QUERY]` (RFC 3986).
///
/// It is visible ASCII, so that it cannot inject a line into a request or a log. It has no user or
/// password, because secrets in addresses end up in logs.
public struct WebAddress: Hashable, Sendable {
  public let scheme: String
  /// In lower case; an IPv6 address has brackets.
  public let host: String
  public let port: Int
  /// Begins with the first slash and includes the query.
  public let path: String

  static let maximumBytes = 2048

  /// - Returns: nil if the text is not an HTTP or HTTPS address.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes,
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }),
      let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://")
    else { return nil }
    scheme = text[..<colon].lowercased()
    guard ["http", "https"].contains(scheme) else { return nil }
    let rest = text[colon...].dropFirst(3)
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    guard let authority = Authority(rest[..<end]) else { return nil }
    host = authority.host
    port = authority.port ?? (scheme == "https" ? 443 : 80)
    let found = rest[end...].prefix { $0 != "#" }
    path = found.hasPrefix("/") ? String(found) : "/" + found
  }

  /// A server alone, `https://HOST[:PORT]`.
  /// - Returns: nil if a path or a query follows, which may hold a key.
  package init?(server text: String) {
    self.init(text)
    if path != "/" { return nil }
  }

  public var isEncrypted: Bool { scheme == "https" }

  /// Whether the host is this machine.
  public var isLoopback: Bool { Authority.isLoopback(host) }

  public func hasSameOrigin(as other: WebAddress) -> Bool {
    (scheme, host, port) == (other.scheme, other.host, other.port)
  }

  /// `SCHEME://HOST`, with the port unless it is the usual one.
  package var origin: String {
    let usual = isEncrypted ? 443 : 80
    return "\(scheme)://\(host)" + (port == usual ? "" : ":\(port)")
  }

  /// The whole address, for requests. Do not show it: the query may hold a key.
  public var text: String { origin + path }

  /// Resolves a reference relative to this address (RFC 3986, section 5.2).
  public func resolving(_ reference: String) -> WebAddress? {
    if reference.hasPrefix("//") { return WebAddress("\(scheme):\(reference)") }
    let beforeSlash = reference.prefix { !"/?#".contains($0) }
    if beforeSlash.contains(":") { return WebAddress(reference) }
    let reference = reference.prefix { $0 != "#" }
    let own = path.prefix { $0 != "?" }
    if reference.isEmpty { return self }
    if reference.hasPrefix("?") { return WebAddress(origin + own + reference) }
    let query = reference.drop { $0 != "?" }
    let target = reference.prefix { $0 != "?" }
    let folder = own[...(own.lastIndex(of: "/") ?? own.startIndex)]
    let whole = target.hasPrefix("/") ? String(target) : String(folder + target)
    return WebAddress(origin + Self.withoutDots(whole) + query)
  }

  /// Resolves `.` and `..` (RFC 3986, section 5.2.4).
  private static func withoutDots(_ path: String) -> String {
    var kept: [Substring] = []
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      switch part {
      case ".": if isLast { kept.append("") }
      case "..":
        if !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append("") }
      default: kept.append(part)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}

/// The address without keys, safe to show.
extension WebAddress: CustomStringConvertible {
  public var description: String { origin + AddressKeys.shortened(in: path) }

  /// A text with every possible key of this address replaced by “…”, for texts that may echo it.
  package func redacted(in text: String) -> String { text.without(AddressKeys.found(in: path)) }
}

/// `HOST[:PORT]`.
package struct Authority {
  package let host: String
  package let port: Int?

  package static func isLoopback(_ host: String) -> Bool {
    if ["localhost", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  package init?(_ text: Substring) {
    var host = text
    var port: Int?
    let bracket = text.lastIndex(of: "]")
    if let colon = text.lastIndex(of: ":"), bracket.map({ $0 < colon }) ?? true {
      let digits = text[text.index(after: colon)...]
      guard let number = Int(digits), (1...65535).contains(number),
        digits.allSatisfy(\.isNumber)
      else { return nil }
      port = number
      host = text[..<colon]
    }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let allowed = isBracketed ? "0123456789abcdef:." : "abcdefghijklmnopqrstuvwxyz0123456789-._~%"
    let name = isBracketed ? host.dropFirst().dropLast() : host
    guard !name.isEmpty, name.lowercased().allSatisfy(allowed.contains) else { return nil }
    self.host = host.lowercased()
    self.port = port
  }
}
