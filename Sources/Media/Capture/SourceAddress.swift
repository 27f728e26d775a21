import Platform

/// A stream of another machine as a user names it, such as `srt://HOST:PORT`. The address has no
/// secret that is known as one; its path and query may still be keys.
public struct SourceAddress: Hashable, Sendable {
  /// The word before the first colon, such as `srt`.
  public let scheme: String
  /// The whole address, as the scheme's library takes it. Do not show it.
  public let text: String
  /// Without brackets; empty for every address of this machine, on which `srt:` listens.
  public let host: String
  /// The port of the host.
  public let port: UInt16
  /// Begins with the first slash or question mark after the host.
  package let path: String
  /// The resource of a web server, for `whep:` and `hls:`.
  public let web: WebAddress?

  private static let maximumBytes = 2048
  /// The ports of addresses without one; none for `srt:`.
  private static let usualPorts: [String: UInt16] = [
    "rtmp": 1935, "rtmps": 443, "rtsp": 554, "rtsps": 322,
  ]

  /// - Parameter address: `//HOST[:PORT][/PATH][?QUERY]`.
  init(_ kind: String, _ address: String?, example: String) throws(SourceSpecificationError) {
    guard let address, address.hasPrefix("//"), address.utf8.count <= Self.maximumBytes,
      address.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) })
    else { throw .missingArgument(kind, "an address such as \(example)") }
    let authority = address.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    path = String(address.dropFirst(2 + authority.count).prefix { $0 != "#" })
    // USER:PASSWORD@HOST; and the only parameter of libsrt that is always secret.
    let isSecret =
      authority.contains("@")
      || kind == "srt" && AddressKeys.decoded(path).lowercased().contains("passphrase")
    if isSecret { throw .secretInAddress(kind) }
    // `srt://:PORT` listens on every address of this machine.
    let isOpen = kind == "srt" && authority.hasPrefix(":")
    guard let parts = Authority(isOpen ? "any" + authority : authority),
      let port = parts.port.flatMap(UInt16.init(exactly:)) ?? Self.usualPorts[kind]
    else { throw .missingArgument(kind, "an address such as \(example)") }
    scheme = kind
    text = "\(kind):\(address.prefix { $0 != "#" })"
    host = isOpen ? "" : parts.host.trimmingBrackets
    self.port = port
    web = nil
  }

  /// - Parameter address: `https://HOST[:PORT]/PATH`.
  init(ofWeb kind: String, _ address: String?, example: String) throws(SourceSpecificationError) {
    guard let address else { throw .missingArgument(kind, "an address such as \(example)") }
    guard let found = WebAddress(address) else {
      if address.contains("@") { throw .secretInAddress(kind) }
      throw .missingArgument(kind, "an address such as \(example)")
    }
    scheme = kind
    text = "\(kind):\(found.text)"
    host = found.host.trimmingBrackets
    port = UInt16(clamping: found.port)
    path = found.path
    web = found
  }

  /// The values of the query's parameter with a name, decoded.
  public func value(of name: String) -> String? {
    let query = path.drop { $0 != "?" }.dropFirst()
    for field in query.split(separator: "&") {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, parts[0] == name { return AddressKeys.decoded(String(parts[1])) }
    }
    return nil
  }

  /// Whether the other machine connects to this one.
  public var listens: Bool {
    scheme == "srt" && (host.isEmpty || value(of: "mode") == "listener")
  }

  /// Whether the server proves its name by a certificate.
  public var isEncrypted: Bool {
    web?.isEncrypted ?? (scheme == "rtmps" || scheme == "rtsps")
  }

  /// Names the address in messages, without what may be a key.
  public var shown: String {
    if let web { return "\(scheme):\(web)" }
    return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
      + AddressKeys.shortened(in: path)
  }

  /// Texts that no message may show.
  public var keys: [String] { AddressKeys.found(in: path) }

  /// A text without the keys of this address.
  package func redacted(in text: String) -> String {
    text.without(keys)
  }
}

extension String {
  fileprivate var trimmingBrackets: String {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
  }
}
