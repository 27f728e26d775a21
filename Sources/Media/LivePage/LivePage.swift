// The module LivePage: one page on which a browser plays streams, and the signalling behind it
// (WHEP, draft-ietf-wish-whep).
//
// It owns the token, the page and the rules of who may ask for what. It refuses to know media: a
// `ViewerService` answers the offers.

#if Media
  import Platform
  import WHIP

  /// Serves the page until it is stopped.
  public final class LivePage: Sendable {
    /// Where the page is, with its token: whoever knows it may watch.
    public let url: String
    private let server: PageServer

    /// - Parameters:
    ///   - title: the names of the streams, for the page's heading.
    ///   - hasSound: whether the page asks for sound.
    ///   - figures: how the streams do now, as one line of JSON; asked each second by each page.
    public init(
      at address: ListenAddress, title: String, hasSound: Bool, service: any ViewerService,
      figures: @escaping @Sendable () -> String
    ) throws(LivePageError) {
      let token = PageToken()
      let routes = PageRoutes(
        token: token, text: PageText(title: title, hasSound: hasSound), service: service,
        figures: figures)
      do throws(SystemError) {
        server = try PageServer(address) { routes.answer($0) }
      } catch {
        throw .cannotListen(address, error)
      }
      url = "http://\(address.reachable(port: server.port))/\(token)/"
    }

    /// Ends every connection, and waits for what is being answered.
    public func stop() { server.stop() }
  }

  /// Why there is no page.
  public enum LivePageError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(ListenAddress, SystemError)

    public var description: String {
      switch self {
      case .cannotListen(let address, let error):
        "cannot listen on \(address): \(error.reason); name an address of this machine and a free "
          + "port, or leave --listen out"
      }
    }
  }
#endif
