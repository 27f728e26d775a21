import CFuzzer
import CredentialStore
import FuzzSupport
import Platform
import Synchronization
import WHIP

/// Fuzzes what an endpoint of WHIP or WHEP answers: statuses, headers and bodies of a whole
/// session, from the offer to the end. Whatever it answers, requests stay at the endpoint's server,
/// the bearer token goes to no other, and no message shows it.
///
/// The first byte of an input chooses the kind of session; the answers follow, as `Server` reads
/// them.
@main
struct Program {
  private static let token = "canary-5f2e"
  private static let bearer = try? BearerToken(SecretBytes(copying: Array(token.utf8)))
  private static let offer = """
    v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r
    m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=ice-ufrag:abcd\r
    a=ice-pwd:0123456789012345678901\r\na=sendrecv\r\na=rtpmap:96 H264/90000\r\n
    """

  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let kind = input.byte()
        let answers = input.bytes(count)
        do { try Program.run(views: kind & 1 != 0, stays: kind & 2 != 0, answers) } catch {
          let text = (error as? WHIPError).map { "\($0) \($0.forViewers)" } ?? "\(error)"
          precondition(!text.lowercased().contains(Program.token) && text.isPlain, text)
        }
        return 0
      })
  }

  private static func run(views: Bool, stays: Bool, _ answers: [UInt8]) throws {
    let endpoint = try WHIPEndpoint(
      "https://live.example.com/whip?a=b", bearer: bearer, staysAtOrigin: stays)
    let server = Server(answers, at: endpoint.address, staysAtOrigin: stays)
    let session = WHIPSession(endpoint, client: server)
    defer { server.finish() }
    do {
      let answer =
        views
        ? try session.view(offering: offer, until: .never, stop: nil)
        : try session.open(offering: offer, until: .never, stop: nil)
      precondition(answer.servers.count <= 16)
      precondition(!stays || answer.resource.hasSameOrigin(as: endpoint.address))
      precondition(answer.resource.isEncrypted || answer.resource.isLoopback)
      session.add(ICECandidate(mediaIndex: 0, text: "candidate:1 1 UDP 1 192.0.2.1 9 typ host"))
      session.endCandidates()
      try session.sendCandidates(until: .never, stop: nil)
    } catch {
      try? session.remove(until: .never)
      throw error
    }
    try session.remove(until: .never)
    precondition(!session.isOpen)
  }
}

/// Answers with the statuses, headers and bodies of an input: a status, a count of headers, then
/// each as the number of its name and a value that ends with a line feed, and a body that ends with
/// a byte of 0. After its end it does not answer.
private final class Server: HTTPClient {
  private static let statuses = [201, 201, 200, 204, 307, 308, 302, 401, 404, 405, 429, 500, 503]
  private static let names = [
    "Location", "Content-Type", "ETag", "Link", "Retry-After", "location", "Accept-Patch",
  ]
  /// A POST with its redirects, a PATCH and a DELETE.
  private static let maximumRequests = 10

  private let rest: Mutex<ArraySlice<UInt8>>
  private let count = Mutex(0)
  private let address: WebAddress
  private let staysAtOrigin: Bool

  init(_ bytes: [UInt8], at address: WebAddress, staysAtOrigin: Bool) {
    rest = Mutex(bytes[...])
    self.address = address
    self.staysAtOrigin = staysAtOrigin
  }

  func send(
    _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
  ) throws(HTTPError) -> HTTPResponse {
    count.withLock { $0 += 1 }
    let isThere = request.address.hasSameOrigin(as: address)
    precondition(isThere || request.bearer == nil && !staysAtOrigin)
    precondition(request.address.isEncrypted || request.address.isLoopback)
    let response = rest.withLock { Self.response(in: &$0) }
    guard let response else { throw .timedOut }
    return response
  }

  func finish() { precondition(count.withLock { $0 } <= Self.maximumRequests) }

  private static func response(in rest: inout ArraySlice<UInt8>) -> HTTPResponse? {
    guard let status = rest.popFirst(), let headerCount = rest.popFirst() else { return nil }
    var response = HTTPResponse(status: statuses[Int(status) % statuses.count])
    for _ in 0..<headerCount % 8 {
      guard let name = rest.popFirst() else { break }
      let value = take(&rest, until: UInt8(ascii: "\n"))
      response.headers.append(
        HTTPHeader(names[Int(name) % names.count], String(decoding: value, as: UTF8.self)))
    }
    response.body = Array(take(&rest, until: 0))
    return response
  }

  private static func take(
    _ rest: inout ArraySlice<UInt8>, until end: UInt8
  ) -> ArraySlice<UInt8> {
    let taken = rest.prefix { $0 != end }
    rest = rest.dropFirst(taken.count + 1)
    return taken
  }
}
