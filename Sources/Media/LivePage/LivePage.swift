// The module LivePage: a page on which a browser plays streams, and its signalling (WHEP, the
// WebRTC-HTTP Egress Protocol, an IETF draft).
//
// It owns the token, the page and the access rules. It refuses to handle media: a `ViewerService`
// answers the offers.

#if Media
  import Platform
  import WHIP

  /// Serves the page until it is stopped.
  public final class LivePage: Sendable {
    /// The address of the page, with its token. Anyone who knows it may watch.
    public let url: String
    private let server: PageServer

    /// - Parameters:
    ///   - title: the names of the streams, for the page's heading.
    ///   - hasSound: whether the page requests sound.
    ///   - figures: the current figures of the streams, as one line of JSON. Each page requests
    ///     them once a second.
    public init(
      at address: ListenAddress, title: String, hasSound: Bool, service: any ViewerService,
      figures: @escaping @Sendable () -> String
    ) throws(LivePageError) {
      let token = PageToken()
      let routes = PageRoutes(
        token: token, text: PageText([.streams(title: title, hasSound: hasSound)]),
        service: service, figures: figures)
      do throws(SystemError) {
        server = try PageServer(address) { routes.answer($0) }
      } catch {
        throw .cannotListen(address, error)
      }
      url = "http://\(address.reachable(port: server.port))/\(token)/"
    }

    /// Closes every connection, and waits for requests that are being handled.
    public func stop() { server.stop() }
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
