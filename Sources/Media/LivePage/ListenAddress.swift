#if Media
  import CHTTPServer
  import WHIP

  /// An address of this machine and a port: `127.0.0.1:8080`, `[::1]:8080`, either without a port,
  /// or only a port.
  public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    /// 0 means any free port.
    public let port: UInt16
    /// The number of a socket that listens there already; 0 for none.
    let socket: Int32

    public static let loopback = ListenAddress(host: "127.0.0.1", port: 0)

    private init(host: String, port: UInt16) {
      self.host = host
      self.port = port
      socket = 0
    }

    /// - Parameter number: a socket that listens already. The page closes it.
    /// - Returns: nil if it does not listen for connections of IPv4 or IPv6.
    public init?(listening number: Int32) {
      var port: UInt16 = 0
      let host = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) {
        buffer -> String? in
        unsafe buffer.initialize(repeating: 0)
        // SAFETY: at most the buffer's bytes are written, as a C string.
        guard
          unsafe http_server_listening_address(number, buffer.baseAddress, buffer.count, &port)
        else { return nil }
        return unsafe String(cString: buffer.baseAddress!)
      }
      guard let host else { return nil }
      (self.host, self.port, socket) = (host, port, number)
    }

    /// - Returns: nil if the text is malformed. Names are not resolved.
    public init?(_ text: String) {
      socket = 0
      var rest = text[...]
      if rest.first == "[" {
        guard let end = rest.firstIndex(of: "]") else { return nil }
        host = String(rest[rest.index(after: rest.startIndex)..<end])
        rest = rest[rest.index(after: end)...]
        guard host.contains(":") else { return nil }
      } else if rest.contains(".") {
        host = String(rest.prefix { $0 != ":" })
        rest = rest.drop { $0 != ":" }
      } else {
        host = Self.loopback.host
        rest = ":" + rest
      }
      guard NetworkAddress.isLiteral(host) else { return nil }
      if rest.isEmpty {
        port = 0
      } else {
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.allSatisfy(\.isNumber), let number = UInt16(digits)
        else { return nil }
        port = number
      }
    }

    public var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// Whether it means every address of this machine.
    var isAny: Bool { ["0.0.0.0", "::"].contains(host) }

    public var description: String { Self.text(host, port) }

    /// The address for a browser on this machine.
    func reachable(port: UInt16) -> String {
      Self.text(isAny ? Self.loopback.host : host, port)
    }

    static func text(_ host: String, _ port: UInt16) -> String {
      (host.contains(":") ? "[\(host)]" : host) + (port == 0 ? "" : ":\(port)")
    }
  }
#endif
