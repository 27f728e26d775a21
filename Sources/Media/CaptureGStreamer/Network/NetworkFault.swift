#if Media
  /// Why a stream of another machine does not come, and what to do.
  public struct NetworkFault: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Cause: Hashable, Sendable {
      /// No address has the name.
      case notFound
      case refused
      case noRoute
      case noAnswer
      /// The passphrase differs from the other side's.
      case wrongPassphrase
      /// One side has a passphrase, and the other has none.
      case missingPassphrase, needlessPassphrase
      /// The server wants a user and a password, a key or a token, or others.
      case unauthorized(hasSecret: Bool)
      case forbidden
      /// The server has no stream of this name.
      case noStream
      case busy
      /// Nobody can tell who answers.
      case untrusted(String)
      case silent
      /// What a web server answers.
      case endpoint(String)
      /// This machine cannot listen.
      case cannotListen(String)
      case lost
      case other(String)
    }

    public let cause: Cause
    /// The server's address, without what may be a key.
    public let address: String

    public var description: String { "cannot receive from \(address): \(text)" }

    private var text: String {
      switch cause {
      case .notFound: "no address has this name; check the name, and that DNS is reachable"
      case .refused: "connection refused; check that the server is running, and the port"
      case .noRoute: "no route to this address; check the network"
      case .noAnswer: "no answer; check the address, and that a firewall lets it through"
      case .wrongPassphrase:
        "the passphrase is wrong; store the right one with `framebus credential set`, and name "
          + "it with --secret"
      case .missingPassphrase:
        "the other side has a passphrase; name a credential that contains it with --secret"
      case .needlessPassphrase:
        "the other side has no passphrase; leave --secret out, or set one there"
      case .unauthorized(let hasSecret):
        hasSecret
          ? "the server refuses the secret; store the right one with `framebus credential set`"
          : "the server wants a secret; name a credential that contains it with --secret"
      case .forbidden: "the server forbids it; ask its owner for access"
      case .noStream: "the server has no such stream; check the path"
      case .busy: "the server is full or busy; try again later"
      case .untrusted(let reason):
        "the server's certificate is not trusted: \(reason); --ca names other certificates to trust"
      case .silent: "nothing that can be shown arrives; check that the stream is being sent"
      case .lost: "the other side ended the stream; check that it is being sent"
      case .endpoint(let reason): reason
      case .cannotListen(let reason): "cannot listen: \(reason); check the address and the port"
      case .other(let reason): "\(reason); run with GST_DEBUG=3 to see more"
      }
    }
  }
#endif
