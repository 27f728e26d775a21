#if Media
  import Platform
  import WHIP

  /// Where the page may be seen besides its own address.
  public struct PageAccess: Sendable {
    /// The address at which a reverse proxy serves the page; nil without one.
    public var publicAddress: WebAddress?
    /// Servers whose pages may embed this one, besides its own.
    public var embedders: [WebAddress] = []

    public init() {}

    /// Whether a request comes from the page or from its address.
    ///
    /// A host name may be one that another party points at this machine (DNS rebinding), and a
    /// script of another page sends its own Origin.
    func check(_ request: PageRequest) throws(PageRefusal) {
      let origin = request.origin
      if let publicAddress, request.host.lowercased() == publicAddress.authority {
        guard origin.isEmpty || origin == publicAddress.origin else { throw .foreignOrigin }
        return
      }
      var name = request.host[...]
      if let colon = name.lastIndex(of: ":"), name.last != "]" { name = name[..<colon] }
      let host = name.hasPrefix("[") ? name.dropFirst().dropLast() : name
      guard host == "localhost" || NetworkAddress.isLiteral(host) else {
        throw .foreignHost
      }
      guard origin.isEmpty || origin == "http://" + request.host else { throw .foreignOrigin }
    }

    /// The part of the page's policy that says who may embed it.
    var framePolicy: String {
      "frame-ancestors " + (["'self'"] + embedders.map(\.origin)).joined(separator: " ")
    }

    /// For browsers that do not know the policy; they have no word for other origins.
    var frameOptions: [(String, String)] {
      embedders.isEmpty ? [("X-Frame-Options", "SAMEORIGIN")] : []
    }
  }

  extension WebAddress {
    /// As a browser sends it in Host.
    fileprivate var authority: String { String(origin.drop { $0 != "/" }.dropFirst(2)) }
  }

  extension PageRefusal {
    fileprivate static let foreignHost = PageRefusal(
      403,
      "the page is reached by its IP address, not by a name; for a reverse proxy, give the name to "
        + "`framebus view --public-url`, or let the proxy send that address as Host")
    fileprivate static let foreignOrigin = PageRefusal(
      403,
      "other pages may not use this one; for a reverse proxy, give its address to "
        + "`framebus view --public-url`, or let the proxy send http:// and the page's own address "
        + "as Origin")
  }
#endif
