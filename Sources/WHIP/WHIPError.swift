/// Why frames do not reach a WHIP endpoint.
public enum WHIPError: Error, Hashable, Sendable {
  case malformedAddress(String)
  case malformedBearer
  case insecure(WebAddress)
  case unreachable(WebAddress, HTTPError)
  case refused(WHIPRefusal)
  case unusableRedirect(WebAddress, status: Int)
  case tooManyRedirects(WebAddress, count: Int)
  case noLocation(WebAddress)
  case unusableLocation(String)
  case emptyAnswer(WebAddress)
  case noDescription(WebAddress, type: String?, excerpt: String)
  case nothingAccepted(WebAddress)
  /// An answer that the engine does not take.
  case unusableAnswer(WebAddress, reason: String)
  case unusableServer(ICEServer, HTTPError)
  case noConnection(WebAddress, seconds: Int64)
  /// Before that time.
  case connectionFailed(WebAddress)
  case connectionLost(WebAddress)
  /// The peer of the media connection is not the one that the endpoint's answer names.
  case wrongCertificate(WebAddress)
  case engineFailed(String)
  case stopped
}

/// An answer that is none of those asked for.
public struct WHIPRefusal: Hashable, Sendable {
  public let method: HTTPMethod
  public let address: WebAddress
  public let status: Int
  /// The beginning of what the server said about it.
  public let excerpt: String
  public let hadBearer: Bool
}

extension WHIPError {
  /// Whether the words were wrong, and not what became of them.
  public var isMisuse: Bool {
    switch self {
    case .malformedAddress, .malformedBearer, .insecure: true
    default: false
    }
  }

  /// Whether the endpoint may have time for the same request a moment later.
  var isBusy: Bool {
    switch self {
    case .unreachable(_, .broken): true
    case .refused(let refusal): [429, 500, 502, 503, 504].contains(refusal.status)
    default: false
    }
  }

  /// Whether trying again, after it once worked, may help.
  public var isPassing: Bool {
    switch self {
    case .malformedAddress, .malformedBearer, .insecure, .wrongCertificate, .stopped: false
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
      "“\(text)” is no address of a WHIP endpoint; write it like whip:https://HOST/PATH, without a"
        + " user or password"
    case .malformedBearer:
      "the bearer has bytes that no header can carry; seal it again, without spaces or newlines"
    case .insecure(let address):
      "\(address) would be reached without encryption; use https, or allow it with --allow-http"
    case .unreachable(let address, let error): "\(address): \(error)"
    case .refused(let refusal): refusal.description
    case .unusableRedirect(let address, let status):
      "\(address) redirects with status \(status), which turns an upload into a download; name the"
        + " address that it points to, or have the server answer 307 or 308"
    case .tooManyRedirects(let address, let count):
      "\(address) redirects more than \(count) times; check the server's configuration"
    case .noLocation(let address):
      "\(address) answers 201 without a Location, so the session could never be ended; it is no"
        + " WHIP endpoint (RFC 9725), or a proxy removes the header"
    case .unusableLocation(let text):
      "the endpoint names “\(text)” as the session's address, which is none that can be used; see"
        + " the server's own log"
    case .emptyAnswer(let address):
      "\(address) answers 201 without a session description; see the server's own log"
    case .noDescription(let address, let type, let excerpt):
      "\(address) answers with no session description"
        + (type.map { ", but with \($0.shortened)" } ?? "") + ": “\(excerpt)”; check the URL's path"
    case .nothingAccepted(let address):
      "\(address) accepts none of the streams; see with `framebus whip probe` which codecs it"
        + " takes, and choose one with --encoder"
    case .unusableAnswer(let address, let reason):
      "\(address) answers with a session description that cannot be used (\(reason.shortened)); "
        + "see the server's own log"
    case .unusableServer(let server, let error): "\(server): \(error)"
    case .noConnection(let address, let seconds):
      "\(address) answered, but no media connection came about in \(seconds) s; check that UDP is"
        + " not blocked, or name a relay with --turn"
    case .connectionFailed(let address):
      "\(address) answered, but the media connection failed: none of its addresses could be "
        + "reached, or it refused the encryption (DTLS); check that UDP is not blocked, name a "
        + "relay with --turn, or see the server's own log"
    case .connectionLost(let address):
      "the media connection to \(address) is lost; check the network and the server's own log"
    case .wrongCertificate(let address):
      "\(address) answered, but the peer of the media connection has another certificate than the "
        + "answer names, so nothing was sent to it; check that nobody intercepts the connection, "
        + "or see the server's own log"
    case .engineFailed(let reason):
      "the WebRTC engine failed: \(reason); set GST_DEBUG=webrtc*:5 to see what it was doing"
    case .stopped: "stopped before the connection came about"
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
    case 401 where hadBearer: "the bearer is not accepted; get a new one, and seal it"
    case 401: "a bearer is asked for; seal one and name it with --credential SERVICE/ACCOUNT"
    case 403: "this bearer may not publish there; check the stream's name and its rights"
    case 404, 410: "check the URL's path"
    case 405: "that is no WHIP endpoint; check the URL's path"
    case 406, 422: "the offer is not accepted; try another --encoder or --profile"
    case 409: "somebody publishes there already; stop that, or choose another path"
    case 415: "it does not take session descriptions, so it is no WHIP endpoint; check the path"
    case 429, 503: "it is busy; try again later"
    case 500...: "the server failed; see its own log"
    default: "see the server's own log"
    }
  }
}
