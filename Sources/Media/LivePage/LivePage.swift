// The module LivePage: a page on which a browser plays streams, and its signalling (WHEP, the
// WebRTC-HTTP Egress Protocol, an IETF draft).
//
// It owns the token, the page and the access rules. It refuses to handle media: a `ViewerService`
// answers the offers for streams of this machine, and those for a `RemoteEndpoint` are passed on.

#if Media
  import Platform
  import WHIP

  /// Serves the page until it is stopped.
  public final class LivePage: Sendable {
    /// The address of the page, with its token. Anyone who knows it may watch.
    public let url: String
    /// The address for other machines: the public one without a token, if there is one. Nil if
    /// others cannot reach the page.
    public let urlForOthers: String?
    private let server: PageServer
    private let remotes: [RemoteEndpoint]
    /// For all sessions at other servers, at the end.
    private static let removalTimeout = Duration.seconds(3)

    /// - Parameters:
    ///   - title: the names of the streams, for the page's heading.
    ///   - hasSound: whether the page requests sound.
    ///   - service: nil if the page shows only remote endpoints.
    ///   - figures: the current figures of the streams, as one line of JSON. Each page requests
    ///     them once a second.
    ///   - choices: the streams that viewers may choose in place of the first one.
    ///   - remotes: endpoints on other servers, which the page shows beside the streams.
    ///   - token: the secret of the address; nil for a random one.
    public init(
      at address: ListenAddress, title: String, hasSound: Bool, service: (any ViewerService)?,
      figures: @escaping @Sendable () -> String, choices: (any StreamChoices)? = nil,
      remotes: [RemoteEndpoint] = [], access: PageAccess = PageAccess(), token: PageToken? = nil
    ) throws(LivePageError) {
      let token = token ?? PageToken()
      var cards = remotes.enumerated().map { number, remote in
        // Whether it has sound is known once it answers.
        PageText.Card(
          path: "remote/\(number)", name: remote.title, title: remote.title, hasSound: true)
      }
      if service != nil { cards.insert(.streams(title: title, hasSound: hasSound), at: 0) }
      let routes = PageRoutes(
        token: token, text: PageText(cards, access), service: service, figures: figures,
        choices: choices, remotes: remotes)
      self.remotes = remotes
      do throws(SystemError) {
        server = try PageServer(address) { routes.answer($0) }
      } catch {
        throw .cannotListen(address, error)
      }
      url = "http://\(address.reachable(port: server.port))/\(token)/"
      urlForOthers = Self.urlForOthers(address, server.port, token, access)
    }

    private static func urlForOthers(
      _ address: ListenAddress, _ port: UInt16, _ token: PageToken, _ access: PageAccess
    ) -> String? {
      if let publicAddress = access.publicAddress { return publicAddress.text }
      guard !address.isLoopback,
        let host = address.isAny ? PageServer.outgoingAddress() : address.host
      else { return nil }
      return "http://\(ListenAddress.text(host, port))/\(token)/"
    }

    /// The addresses of the remote endpoints, without keys.
    public var remoteTitles: [String] { remotes.map(\.title) }

    /// Closes every connection, waits for requests that are being handled, and removes the sessions
    /// at other servers.
    public func stop() {
      for remote in remotes { remote.interrupt() }
      server.stop()
      let deadline = Deadline.after(Self.removalTimeout)
      for remote in remotes { remote.end(until: deadline) }
    }
  }

  /// Why the page cannot be served.
  public enum LivePageError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(ListenAddress, SystemError)

    public var description: String {
      switch self {
      case .cannotListen(let address, let error):
        "cannot listen on \(address): \(error.reason); use an address of this machine and a free "
          + "port, or omit --listen"
      }
    }
  }
#endif
