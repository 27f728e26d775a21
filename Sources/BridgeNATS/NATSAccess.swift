#if Media
  import CNATS
  import Platform

  /// Who connects, where to, and how the server proves who it is.
  package struct NATSAccess: Sendable {
    package enum Proof: Sendable {
      case nobody
      case password(user: String, password: String)
      case token(String)
      case key(public: String, seed: String)
      case jwt(String, seed: String)
    }

    struct Server: Hashable, Sendable {
      let host: String
      let port: Int

      var isAddress: Bool { host.hasPrefix("[") || host.allSatisfy { $0.isNumber || $0 == "." } }
    }

    let server: Server
    /// Whether to require TLS.
    package var isSecure = true
    /// Whether the user allowed other machines to be reached without encryption.
    package var isPlainAllowed = false
    /// A file of certificates to trust instead of the system's.
    package var certificates: String?
    package var proof = Proof.nobody
    /// The name of the credential, for messages; empty for none.
    package var credential = ""

    package init(host: String, port: Int) { server = Server(host: host, port: port) }

    package var url: String { "\(isSecure ? "tls" : "nats")://\(server.host):\(server.port)" }

    /// A server of the cluster that the server named, if it may be reached: without encryption,
    /// only with `--plain`.
    func learned(_ text: String) -> Server? {
      guard isSecure || isPlainAllowed, let authority = Authority(Substring(text)),
        let port = authority.port
      else { return nil }
      return Server(host: authority.host, port: port)
    }

    /// The name that a server's certificate must have; nil for its host. Servers of a cluster name
    /// each other by address, for which few certificates are made.
    func certificateName(of other: Server) -> String? {
      other.isAddress && !server.isAddress ? server.host : nil
    }
  }

  /// Why there is no connection.
  package struct NATSFailure: Error, Equatable, Sendable, CustomStringConvertible {
    enum Kind: Sendable { case unreachable, refused, untrusted, plain, unusable }

    let kind: Kind
    let url: String
    let credential: String
    /// As libnats or the system put it.
    let detail: String

    /// Whether somebody must change something before another attempt can succeed.
    var isLasting: Bool { kind != .unreachable }

    package var description: String {
      switch kind {
      case .unreachable: "cannot connect to \(url): \(reason); check that the server runs"
      case .refused, .untrusted, .plain, .unusable: reason
      }
    }

    /// The same where the server is named already.
    var reason: String {
      switch kind {
      case .unreachable: Self.sentence(detail)
      case .refused where credential.isEmpty:
        "\(url) asks for a credential: \(detail); name one with --credential SERVICE/ACCOUNT"
      case .refused:
        "\(url) refused the credential \(credential): \(detail); check the server's users, and"
          + " replace it with `framebus credential set \(credential)`"
      case .untrusted: "the certificate of \(url) is refused: \(verdict)"
      case .plain:
        "\(url) does not encrypt: \(Self.sentence(detail)); set up TLS there, or allow it with"
          + " --plain"
      case .unusable: Self.sentence(detail)
      }
    }

    /// OpenSSL's verdict about a certificate, by its number (X509_STORE_CTX_get_error(3)).
    private var verdict: String {
      let text = detail.split(separator: ": ", maxSplits: 1).last ?? ""
      switch text.prefix(while: \.isNumber) {
      case "2", "18", "19", "20", "21":
        return "an unknown authority signed it; trust that one with --ca FILE"
      case "9": return "it is not valid yet; check this machine's clock"
      case "10": return "it has expired; renew it on the server"
      case "62", "64": return "it is of another host; use a name that it has"
      default: return String(text)
      }
    }

    /// A cause as a part of a sentence.
    private static func sentence(_ text: String) -> String {
      text.prefix(2).dropFirst().allSatisfy(\.isLowercase)
        ? text.prefix(1).lowercased() + text.dropFirst() : text
    }
  }

  /// The server or the network failed a request.
  package struct NATSError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }
#endif
