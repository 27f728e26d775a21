import CredentialStore
import Platform
import Synchronization

@testable import WHIP

/// A client that answers from a list and records the requests.
final class Script: HTTPClient {
  private let answers: Mutex<[HTTPResponse]>
  private let asked = Mutex<[HTTPRequest]>([])

  init(_ answers: HTTPResponse...) { self.answers = Mutex(answers) }

  var requests: [HTTPRequest] { asked.withLock { $0 } }

  func send(
    _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
  ) throws(HTTPError) -> HTTPResponse {
    asked.withLock { $0.append(request) }
    let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    guard let next else { throw .timedOut }
    return next
  }
}

extension HTTPResponse {
  static func created(
    at location: String = "/session/1", tag: String? = "\"1\"", links: [String] = [],
    media: String = ""
  ) -> HTTPResponse {
    HTTPResponse(
      status: 201,
      headers: [HTTPHeader("location", location), HTTPHeader("Content-Type", "application/sdp")]
        + [tag].compactMap(\.self).map { HTTPHeader("ETag", $0) }
        + links.map { HTTPHeader("Link", $0) },
      body: Array("v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\n\(media)".utf8))
  }

  static func status(_ status: Int, _ headers: HTTPHeader...) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers)
  }
}

let testOffer =
  "v=0\r\na=group:BUNDLE 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\na=ice-ufrag:u\r\n"
  + "a=ice-pwd:p\r\n"

func bearer(_ text: String) throws -> BearerToken? {
  try BearerToken(SecretBytes(copying: Array(text.utf8)))
}

func candidate(_ number: Int) -> ICECandidate {
  ICECandidate(mediaIndex: 0, text: "candidate:\(number) 1 UDP 1 192.0.2.1 5000 typ host")
}
