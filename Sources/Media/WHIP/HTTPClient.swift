import Platform

/// Sends a request to a server and returns its response. libcurl implements it, and so do tests.
public protocol HTTPClient: Sendable {
  /// Sends one request. Does not follow redirects.
  /// - Throws: the reason why there is no response. A response of any status is not an error.
  func send(
    _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
  ) throws(HTTPError) -> HTTPResponse
}

public enum HTTPMethod: String, Sendable {
  case get = "GET"
  case post = "POST"
  case patch = "PATCH"
  case delete = "DELETE"
}

public struct HTTPHeader: Hashable, Sendable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

public struct HTTPRequest: Sendable {
  public var method: HTTPMethod
  public var address: WebAddress
  public var headers: [HTTPHeader] = []
  /// Kept apart from the other headers because it is secret.
  public var bearer: BearerToken?
  public var body = ""

  public init(_ method: HTTPMethod, _ address: WebAddress) {
    self.method = method
    self.address = address
  }
}

public struct HTTPResponse: Sendable {
  public var status: Int
  public var headers: [HTTPHeader]
  public var body: [UInt8]

  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The values of all headers with a name, compared without regard to case.
  public func values(of name: String) -> [String] {
    let wanted = name.lowercased()
    return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
  }

  public func value(of name: String) -> String? { values(of: name).first }

  /// The type of the body, without its parameters.
  var mediaType: String? {
    value(of: "Content-Type")?.split(separator: ";").first.map {
      String($0).lowercased().filter { !$0.isWhitespace }
    }
  }
}

/// Why there is no response from a server.
public enum HTTPError: Error, Hashable, Sendable {
  case stopped
  case timedOut
  case unresolvable
  case cannotConnect(reason: String)
  case badCertificate(reason: String)
  case unreadableCertificates(path: String)
  case answerTooLarge
  /// A line of the response's header is too long.
  case headerTooLong
  /// The relay's address asks for TLS over UDP.
  case noDatagramTLS
  case broken(reason: String)
}

extension HTTPError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .stopped: "stopped before it answered"
    case .timedOut: "no answer in time; check that the server runs and the network is not blocked"
    case .unresolvable: "its name cannot be resolved; check the name and the DNS server"
    case .cannotConnect(let reason):
      "cannot connect (\(reason)); check that the server is running, and its port"
    case .badCertificate(let reason):
      "its certificate is not trusted (\(reason)); if the server is yours, pass the certificate"
        + " that signed it with --ca FILE"
    case .unreadableCertificates(let path):
      "\(path) contains no readable certificates; use the PEM format"
    case .answerTooLarge: "its answer is larger than that of a WHIP endpoint; check the URL"
    case .headerTooLong:
      "its answer has a header line that is too long; check the URL, and see the server's own log"
    case .noDatagramTLS:
      "TLS over UDP (DTLS) to a relay is not supported; use ?transport=tcp, or turn: without TLS"
    case .broken(let reason): "the connection failed (\(reason)); check the URL and its port"
    }
  }
}
