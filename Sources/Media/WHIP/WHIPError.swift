import Platform

/// Why frames do not reach a WHIP endpoint.
public enum WHIPError: Error, Hashable, Sendable {
  case malformedAddress(String)
  case malformedBearer
  case insecure(WebAddress)
  /// A running upload was asked to send to another server than the one that was agreed to.
  case otherServer(WebAddress, agreed: String)
  case unreachable(WebAddress, HTTPError)
  case refused(WHIPRefusal)
  case unusableRedirect(WebAddress, status: Int)
  case tooManyRedirects(WebAddress, count: Int)
  case noLocation(WebAddress)
  case unusableLocation(String)
  /// A redirect or Location that leaves the only server that was agreed to.
  case leadsElsewhere(String)
  case emptyAnswer(WebAddress)
  case noDescription(WebAddress, type: String?, excerpt: String)
  case nothingAccepted(WebAddress)
  /// The endpoint does not take the pictures that are encoded for other destinations too.
  case sharedCodecRefused(WebAddress)
  /// An answer that does not take the layers of the offer.
  case noSimulcast(WebAddress)
  /// An answer that the engine does not accept.
  case unusableAnswer(WebAddress, reason: String)
  case unusableServer(ICEServer, HTTPError)
  case noConnection(WebAddress, seconds: Int64, TriedPaths)
  /// The connection failed before the timeout.
  case connectionFailed(WebAddress, TriedPaths)
  case connectionLost(WebAddress)
  /// The peer has ended the connection.
  case connectionClosed(WebAddress)
  /// The peer of the media connection is not the one that the endpoint's answer names.
  case wrongCertificate(WebAddress)
  case engineFailed(String)
  case stopped
}

/// An HTTP answer whose status is not a success.
public struct WHIPRefusal: Hashable, Sendable {
  public let method: HTTPMethod
  public let address: WebAddress
  public let status: Int
  /// The beginning of the response body.
  public let excerpt: String
  public let hadBearer: Bool
  /// When to try again at the earliest (`Retry-After`), of 429 and 503; nil if it does not say.
  public var retryAfter: Duration?
}

extension WHIPError {
  /// Whether an argument is invalid, as opposed to a failure at run time.
  public var isMisuse: Bool {
    switch self {
    case .malformedAddress, .malformedBearer, .insecure: true
    default: false
    }
  }

  /// Whether the endpoint may accept the same request a moment later.
  var isBusy: Bool {
    switch self {
    case .unreachable(_, .broken): true
    case .refused(let refusal): [429, 500, 502, 503, 504].contains(refusal.status)
    default: false
    }
  }

  /// The wait that the endpoint asks for before the next attempt.
  public var retryAfter: Duration? {
    if case .refused(let refusal) = self { refusal.retryAfter } else { nil }
  }

  /// Whether the first attempt may fail for this reason although address and token are right: the
  /// server is not running yet, is busy, or has not ended an earlier session.
  public var isTemporary: Bool {
    switch self {
    case .unreachable: isTransient
    case .refused(let refusal): refusal.status == 409 || isBusy
    case .noConnection, .connectionFailed, .connectionLost, .connectionClosed: true
    default: false
    }
  }

  /// Whether the endpoint may refuse the offer because of its layers.
  public var refusesLayers: Bool {
    if case .noSimulcast = self { true } else { refusesCodec }
  }

  /// Whether the endpoint refuses the offer, as one that lacks the codec does.
  public var refusesCodec: Bool {
    switch self {
    case .nothingAccepted: true
    case .refused(let refusal):
      refusal.method == .post && [406, 415, 422].contains(refusal.status)
    default: false
    }
  }

  /// Whether a retry may help once a connection has worked.
  public var isTransient: Bool {
    switch self {
    case .malformedAddress, .malformedBearer, .insecure, .otherServer, .wrongCertificate, .stopped:
      false
    case .unreachable(_, let error):
      switch error {
      case .stopped, .badCertificate, .unreadableCertificates: false
      default: true
      }
    case .refused(let refusal): ![401, 403].contains(refusal.status)
    default: true
    }
  }
}

extension WHIPError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformedAddress(let text):
      "“\(text)” is not the address of a WHIP endpoint; write it as whip:https://HOST/PATH, or"
        + " whip:http://HOST/PATH on this machine, without a user or password"
    case .malformedBearer:
      "the bearer token has bytes that an HTTP header cannot carry; seal it again, without spaces"
        + " or newlines"
    case .insecure(let address):
      "\(address) is not encrypted; use https, or allow plain HTTP with --allow-http"
    case .otherServer(let address, let agreed):
      "\(address) is on another server than \(agreed), to which the broadcast's user agreed; start"
        + " a new broadcast to send there"
    case .unreachable(let address, let error): "\(address): \(error)"
    case .refused(let refusal): refusal.description
    case .unusableRedirect(let address, let status):
      "\(address) redirects with status \(status), which turns POST into GET; use the address that"
        + " it points to, or configure the server to answer 307 or 308"
    case .tooManyRedirects(let address, let count):
      "\(address) redirects more than \(count) times; check the server's configuration"
    case .noLocation(let address):
      "\(address) answers 201 without a Location, so the session could not be ended; it is not a"
        + " WHIP endpoint (RFC 9725), or a proxy removes the header"
    case .unusableLocation(let text):
      "the endpoint's Location, “\(text)”, is not a usable address; see the server's own log"
    case .leadsElsewhere(let text):
      "the endpoint points to “\(text)”, which is not an address of the same server; name the"
        + " address that it points to"
    case .emptyAnswer(let address):
      "\(address) answers 201 without a session description; see the server's own log"
    case .noDescription(let address, let type, let excerpt):
      "\(address) does not answer with a session description"
        + (type.map { ", but with \($0)" } ?? "") + ": “\(excerpt)”; check the URL's path"
    case .nothingAccepted(let address):
      "\(address) accepts none of the streams; list its codecs with `framebus whip probe`, and"
        + " choose one with --encoder"
    case .sharedCodecRefused(let address):
      "\(address) does not take the H.264 that all destinations of this upload share; start an "
        + "upload to it alone, which offers other codecs, or try another --profile"
    case .noSimulcast(let address):
      "\(address) does not take simulcast; send without --simulcast"
    case .unusableAnswer(let address, let reason):
      "\(address) answers with a session description that cannot be used (\(reason)); "
        + "see the server's own log"
    case .unusableServer(let server, let error): "\(server): \(error)"
    case .noConnection(let address, let seconds, let tried):
      "\(address) answered, but no media connection was established within \(seconds) s "
        + "(\(tried)); \(tried.advice)"
    case .connectionFailed(let address, let tried):
      "\(address) answered, but the media connection failed (\(tried)): none of its addresses is "
        + "reachable, or it refused the DTLS handshake; \(tried.advice), or see the server's log"
    case .connectionLost(let address):
      "the media connection to \(address) is lost; check the network, and the server's own log"
    case .connectionClosed(let address):
      "\(address) has closed the media connection; see the server's own log"
    case .wrongCertificate(let address):
      "\(address) answered, but the peer of the media connection has another certificate than the "
        + "answer names, so nothing was sent to it; check that nobody intercepts the connection, "
        + "and the server's own log"
    case .engineFailed(let reason):
      "the WebRTC engine failed: \(reason); set GST_DEBUG=webrtc*:5 to log its steps"
    case .stopped: "stopped before the connection was established"
    }
  }
}

extension WHIPRefusal: CustomStringConvertible {
  public var description: String {
    let said = excerpt.isEmpty ? "" : ": “\(excerpt)”"
    return "\(address) answers \(method.rawValue) with status \(status)\(said); \(advice)"
  }

  private var advice: String {
    switch status {
    case 401 where hadBearer: "the bearer token is not accepted; get a new one, and seal it"
    case 401: "a bearer token is required; seal one and name it with --credential SERVICE/ACCOUNT"
    case 403: "this bearer token may not publish there; check the stream's name and permissions"
    case 404, 410: "check the URL's path"
    case 405: "it is not a WHIP endpoint; check the URL's path"
    case 406, 422: "the offer is not accepted; try another --encoder or --profile"
    case 409: "another publisher is active there; stop it, or choose another path"
    case 415:
      "it does not accept session descriptions, so it is not a WHIP endpoint; check the path"
    case 429, 503:
      "it is busy; try again " + (retryAfter.map { "in \($0.components.seconds) s" } ?? "later")
    case 500...: "the server failed; see its own log"
    default: "see the server's own log"
    }
  }
}
