// The module WHIP: the signalling of a live upload (RFC 9725) and of viewers (WHEP, an IETF draft).
//
// It refuses to depend on a media library: an engine makes offers and candidates, and this module
// sends them to the endpoint. It refuses to send a bearer token to any origin but the one that the
// user named.

import Platform

/// The endpoint's answer to the offer.
public struct WHIPAnswer: Sendable {
  public let sdp: String
  /// Media that were offered and not accepted.
  public let refused: [MediaKind]
  /// The ICE servers that it recommends (RFC 9725, section 4.6).
  public let servers: [ICEServer]
  /// The address of the session.
  public let resource: WebAddress
  /// Whether the endpoint distinguishes ICE sessions by entity tags.
  public let hasEntityTag: Bool
}

/// One session at a WHIP endpoint: opened by an offer, extended by candidates, finally removed.
///
/// Confined to one thread. Candidates that arrive before the endpoint has named the session's
/// resource are kept until then.
public final class WHIPSession {
  static let maximumRedirects = 5
  static let maximumAnswerBytes = 256 * 1024
  /// More than an engine gathers.
  private static let maximumCandidates = 256

  private let endpoint: WHIPEndpoint
  private let client: any HTTPClient
  private var resource: Resource?
  private var offer: SessionDescription?
  private var waiting: [ICECandidate] = []
  private var isGathered = false
  private var hasSentEnd = false

  /// Whether the endpoint accepts candidates after the offer. One that does not must receive all of
  /// them in the next offer, or learn our address from our packets.
  public private(set) var takesCandidates = true

  /// The session that the endpoint created for the offer.
  private struct Resource {
    var address: WebAddress
    /// The ICE session that a change applies to; nil if the endpoint sends no entity tag.
    var entityTag: String?
  }

  public init(_ endpoint: WHIPEndpoint, client: any HTTPClient) {
    self.endpoint = endpoint
    self.client = client
  }

  /// Whether the endpoint holds a session that is not removed yet.
  public var isOpen: Bool { resource != nil }

  // MARK: Opening

  /// Sends the offer, and returns the answer.
  public func open(
    offering sdp: String, until deadline: Deadline, stop: StopSignal?
  ) throws(WHIPError) -> WHIPAnswer {
    offer = SessionDescription(sdp)
    let (text, resource, response) = try post(sdp, until: deadline, stop: stop)
    // No media from the endpoint are used here.
    var answer = PeerDescription(text, overUDPAlone: false)
    answer.receiveOnly()
    answer.nameOneFingerprint()
    let description = SessionDescription(answer.text)
    guard description.acceptsMedia else { throw .nothingAccepted(endpoint.address) }
    guard offer.map(description.takesLayers) ?? true else { throw .noSimulcast(endpoint.address) }
    return WHIPAnswer(
      sdp: answer.text, refused: offer.map(description.refused) ?? [],
      servers: LinkHeader.servers(in: response.values(of: "Link")),
      resource: resource.address, hasEntityTag: resource.entityTag != nil)
  }

  /// Sends the offer of a viewer to a WHEP endpoint.
  /// - Returns: the answer as the endpoint wrote it, with at least one medium that it sends.
  public func view(
    offering sdp: String, until deadline: Deadline, stop: StopSignal?
  ) throws(WHIPError) -> WHIPAnswer {
    offer = SessionDescription(sdp)
    let (text, resource, response) = try post(sdp, until: deadline, stop: stop)
    guard SessionDescription(text).media.contains(where: \.sends) else {
      throw .nothingAccepted(endpoint.address)
    }
    return WHIPAnswer(
      sdp: text, refused: [], servers: LinkHeader.servers(in: response.values(of: "Link")),
      resource: resource.address, hasEntityTag: resource.entityTag != nil)
  }

  /// Sends the offer.
  private func post(
    _ sdp: String, until deadline: Deadline, stop: StopSignal?
  ) throws(WHIPError) -> (answer: String, resource: Resource, response: HTTPResponse) {
    var request = HTTPRequest(.post, endpoint.address)
    request.headers = [
      HTTPHeader("Content-Type", MediaType.sdp), HTTPHeader("Accept", MediaType.sdp),
    ]
    request.body = sdp
    let (response, address) = try followingRedirects(request, until: deadline, stop: stop)
    guard response.status == 201 else { throw refusal(.post, address, response) }
    guard let location = response.value(of: "Location") else {
      throw .noLocation(endpoint.address)
    }
    guard let found = address.resolving(location) else {
      throw .unusableLocation(endpoint.shown(location))
    }
    guard endpoint.covers(found) else { throw .leadsElsewhere(endpoint.shown(location)) }
    guard endpoint.mayUse(found) else { throw .unusableLocation(endpoint.shown(location)) }
    let resource = Resource(address: found, entityTag: response.value(of: "ETag"))
    // Set before the answer is checked, so that the session can be removed if that fails.
    self.resource = resource
    let text = String(decoding: response.body, as: UTF8.self)
    if text.allSatisfy(\.isWhitespace) { throw .emptyAnswer(endpoint.address) }
    let type = response.mediaType
    guard type == nil || type == MediaType.sdp, SessionDescription(answer: text) != nil
    else {
      throw .noDescription(
        endpoint.address, type: type.map(endpoint.shown), excerpt: excerpt(of: response))
    }
    return (text, resource, response)
  }

  /// Sends a request and follows redirects, which RFC 9725 allows for 307 and 308.
  private func followingRedirects(
    _ first: HTTPRequest, until deadline: Deadline, stop: StopSignal?
  ) throws(WHIPError) -> (HTTPResponse, WebAddress) {
    var request = first
    for _ in 0...Self.maximumRedirects {
      let response = try send(request, until: deadline, stop: stop)
      guard (300..<400).contains(response.status) else { return (response, request.address) }
      guard [307, 308].contains(response.status) else {
        throw .unusableRedirect(endpoint.shown(request.address), status: response.status)
      }
      guard let location = response.value(of: "Location"),
        let next = request.address.resolving(location)
      else { throw .unusableLocation(endpoint.shown(response.value(of: "Location") ?? "")) }
      guard endpoint.covers(next) else { throw .leadsElsewhere(endpoint.shown("\(next)")) }
      guard endpoint.mayUse(next), !(request.address.isEncrypted && !next.isEncrypted) else {
        throw .insecure(endpoint.shown(next))
      }
      request.address = next
    }
    throw .tooManyRedirects(endpoint.address, count: Self.maximumRedirects)
  }

  // MARK: Candidates

  /// Keeps a candidate for `sendCandidates`.
  public func add(_ candidate: ICECandidate) {
    if waiting.count < Self.maximumCandidates { waiting.append(candidate) }
  }

  /// Marks the candidates as complete.
  public func endCandidates() { isGathered = true }

  /// Sends the candidates added since the last call, if the endpoint accepts candidates.
  public func sendCandidates(until deadline: Deadline, stop: StopSignal?) throws(WHIPError) {
    guard takesCandidates, let resource, let offer else { return }
    let isLast = isGathered && !hasSentEnd
    guard !waiting.isEmpty || isLast else { return }
    let fragment = SDPFragment(offer, waiting, isComplete: isGathered).text
    waiting = []
    hasSentEnd = isGathered
    try patch(request(to: resource, fragment), until: deadline, stop: stop)
  }

  /// Sends candidates as a viewer wrote them, if the endpoint accepts candidates.
  public func send(
    fragment: String, until deadline: Deadline, stop: StopSignal?
  ) throws(WHIPError) {
    guard takesCandidates, let resource else { return }
    try patch(request(to: resource, fragment), until: deadline, stop: stop)
  }

  private func request(to resource: Resource, _ fragment: String) -> HTTPRequest {
    var request = HTTPRequest(.patch, resource.address)
    request.headers = [HTTPHeader("Content-Type", MediaType.fragment)]
    if let tag = resource.entityTag { request.headers.append(HTTPHeader("If-Match", tag)) }
    request.body = fragment
    return request
  }

  private func patch(
    _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
  ) throws(WHIPError) {
    // An endpoint that does not answer, or refuses, gets no further candidates.
    takesCandidates = false
    let response = try send(request, until: deadline, stop: stop)
    switch response.status {
    case 200..<300:
      takesCandidates = true
      if let tag = response.value(of: "ETag") { self.resource?.entityTag = tag }
    case 405, 415, 422, 501: break
    default: throw refusal(.patch, request.address, response)
    }
  }

  // MARK: The end

  /// Removes the session at the endpoint. A session that no longer exists is not an error.
  public func remove(until deadline: Deadline) throws(WHIPError) {
    guard let resource else { return }
    let request = HTTPRequest(.delete, resource.address)
    let response = try send(request, until: deadline, stop: nil)
    guard (200..<300).contains(response.status) || [404, 410].contains(response.status) else {
      throw refusal(.delete, resource.address, response)
    }
    self.resource = nil
  }

  // MARK: Requests

  private func send(
    _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
  ) throws(WHIPError) -> HTTPResponse {
    var request = request
    // The bearer token is for the origin that the user named, whatever that server answers.
    if request.address.hasSameOrigin(as: endpoint.address) { request.bearer = endpoint.bearer }
    do throws(HTTPError) {
      return try client.send(request, until: deadline, stop: stop)
    } catch {
      throw .unreachable(endpoint.shown(request.address), error)
    }
  }

  private func refusal(
    _ method: HTTPMethod, _ address: WebAddress, _ response: HTTPResponse
  ) -> WHIPError {
    .refused(
      WHIPRefusal(
        method: method, address: endpoint.shown(address), status: response.status,
        excerpt: excerpt(of: response), hadBearer: endpoint.bearer != nil,
        retryAfter: [429, 503].contains(response.status) ? RetryAfter.wait(in: response) : nil))
  }

  /// The beginning of the response body, safe to show.
  private func excerpt(of response: HTTPResponse) -> String {
    endpoint.shown(String(decoding: response.body, as: UTF8.self))
  }
}

/// The media types of WHIP.
enum MediaType {
  static let sdp = "application/sdp"
  static let fragment = "application/trickle-ice-sdpfrag"
}

extension StringProtocol {
  /// The first 160 characters of an untrusted text, escaped, on one line.
  var shortened: String {
    let words = split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.count > 160 ? words.prefix(160).plain + "…" : words.plain
  }
}
