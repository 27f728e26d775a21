import Platform

/// Carries one request to a server and its answer back: libcurl does it, and tests do.
public protocol HTTPClient: Sendable {
  /// Sends one request; follows no redirect.
  /// - Throws: why there is no answer. An answer of any status is none of that.
  func send(
    _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
  ) throws(HTTPError) -> HTTPResponse
}

public enum HTTPMethod: String, Sendable {
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
  /// Apart from the other headers, because it is a secret.
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

  /// The values of all headers of that name, in any case of letters.
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

/// Why a server gave no answer.
public enum HTTPError: Error, Hashable, Sendable {
  case stopped
  case timedOut
  case unresolvable
  case cannotConnect(reason: String)
  case badCertificate(reason: String)
  case unreadableCertificates(path: String)
  case answerTooLarge
  /// A line of its header.
  case headerTooLong
  /// TLS over UDP, by which a relay was to be reached.
  case noDatagramTLS
  case broken(reason: String)
}

extension HTTPError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .stopped: "it was stopped before there was an answer"
    case .timedOut: "no answer in time; check that the server runs and the network is not blocked"
    case .unresolvable: "its name is not known; check the spelling and the name server"
    case .cannotConnect(let reason):
      "nobody answers there (\(reason)); check that the server runs, and its port"
    case .badCertificate(let reason):
      "its certificate is not trusted (\(reason)); if the server is yours, name the certificate"
        + " that signed it with --ca FILE"
    case .unreadableCertificates(let path):
      "\(path) holds no certificates that can be read; write them in PEM"
    case .answerTooLarge: "it answers with more than a WHIP endpoint would; check the URL"
    case .headerTooLong:
      "its answer has too long a line in its header; check the URL, and see the server's own log"
    case .noDatagramTLS:
      "TLS over UDP (DTLS) to a relay is not supported; name it with ?transport=tcp, or as turn:"
        + " without TLS"
    case .broken(let reason): "the connection failed (\(reason)); check the URL and its port"
    }
  }
}
