extension WHIPError {
  /// Why the pictures of a WHEP endpoint are not shown, in words for its viewer.
  public var forViewers: String {
    switch self {
    case .refused(let refusal): refusal.forViewers
    case .malformedAddress(let text):
      "“\(text)” is not the address of a WHEP endpoint; write it as whep:https://HOST/PATH, or"
        + " whep:http://HOST/PATH on this machine, without a user or password"
    case .noLocation(let address):
      "\(address) answers 201 without a Location, so the session could not be ended; it is not a"
        + " WHEP endpoint, or a proxy removes the header"
    case .nothingAccepted(let address):
      "\(address) sends neither pictures nor sound; check that its publisher is running, and that"
        + " it sends H.264 or VP8"
    default: description
    }
  }

  /// Whether the endpoint has answered, as opposed to being unreachable.
  public var isAnswer: Bool {
    switch self {
    case .unreachable, .stopped: false
    default: true
    }
  }
}

extension WHIPRefusal {
  fileprivate var forViewers: String {
    let said = excerpt.isEmpty ? "" : ": “\(excerpt)”"
    return "\(address) answers \(method.rawValue) with status \(status)\(said); \(viewersAdvice)"
  }

  private var viewersAdvice: String {
    switch status {
    case 401 where hadBearer: "the bearer token is not accepted; get a new one, and seal it"
    case 401: "a bearer token is required; seal one and name it with --credential SERVICE/ACCOUNT"
    case 403 where hadBearer: "this bearer token may not watch there; check its permissions"
    case 403: "it refuses access; check the URL, and whether it requires --credential"
    case 404, 410: "check the URL's path, and that its publisher is running"
    case 405, 415: "it is not a WHEP endpoint; check the URL's path"
    case 406, 422: "it sends no codec that this browser plays"
    case 409, 429, 503: "it is busy; the page tries again"
    case 500...: "the server failed; see its own log"
    default: "see the server's own log"
    }
  }
}
