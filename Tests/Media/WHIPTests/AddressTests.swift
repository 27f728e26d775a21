import Platform
import Testing

@testable import WHIP

@Suite struct AddressTests {
  @Test func referencesResolvePerRFC3986() throws {
    // Section 5.4, without references that have no meaning for a session.
    let base = try #require(WebAddress("http://a/b/c/d?q"))
    for (reference, wanted) in [
      ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d?y"),
      ("g?y", "/b/c/g?y"), ("#s", "/b/c/d?q"), ("", "/b/c/d?q"), (".", "/b/c/"), ("..", "/b/"),
      ("../g", "/b/g"), ("../..", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("/./g", "/g"),
      ("/../g", "/g"), ("./../g", "/b/g"), ("g;x=1/../y", "/b/c/y"), ("g?y/../x", "/b/c/g?y/../x"),
    ] {
      #expect(base.resolving(reference)?.text == "http://a" + wanted, "\(reference)")
    }
    #expect(base.resolving("//g")?.text == "http://g/")
    #expect(base.resolving("https://h:8443/x")?.text == "https://h:8443/x")
    #expect(base.resolving("ftp://h/x") == nil && base.resolving("mailto:x") == nil)
  }

  @Test(
    arguments: [
      "", "https", "https:", "https://", "https:///x", "ftp://h/x", "https://user@h/", "file:///x",
      "https://u:p@h/", "https://h:0/", "https://h:70000/", "https://h:x/", "https://h /x",
      "https://h/x\r\nX: y", "https://h/\u{e9}", "https://[::1/",
      "https://h/" + String(repeating: "x", count: 2048),
    ])
  func malformedAddressIsRefused(text: String) { #expect(WebAddress(text) == nil) }

  @Test(
    arguments: [
      ("https://me:s3cret@h/x", "“https:…”"), ("ftp://h/s3cret?s3cret", "“ftp://h/…”"),
      ("h/x?key=s3cret", "“h/x?…”"), ("me:s3cret@h", "“me:…”"), ("h", "“h”"),
    ])
  func malformedAddressIsShownWithoutItsSecret(text: String, shown: String) {
    let error = #expect(throws: WHIPError.self) { try WHIPEndpoint(text) }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.hasPrefix(shown) && !message.contains("s3cret"), "\(message)")
  }

  @Test func descriptionOmitsQuery() throws {
    let address = try #require(WebAddress("HTTPS://Live.Example.com:443/a/B?key=s3cret#x"))
    #expect(address.text == "https://live.example.com/a/B?key=s3cret")
    #expect("\(address)" == "https://live.example.com/a/B?…")
  }

  @Test(
    arguments: [
      ("/whip/room", "/whip/room"), ("/", "/"), ("/v1/cam2/", "/v1/cam2/"),
      ("/whip/sk2f9a81", "/whip/sk2…"),
      ("/0123456789abcdef/webRTC/publish", "/012…/webRTC/publish"),
      ("/live/averylongwordthatmaybeakey", "/live/ave…"), ("/a%20b/x-1234567", "/a%20b/x-1…"),
    ])
  func possibleKeyInPathIsShortened(path: String, shown: String) throws {
    let address = try #require(WebAddress("https://h\(path)"))
    #expect("\(address)" == "https://h\(shown)")
  }

  @Test func echoedKeyIsRedacted() throws {
    let address = try #require(WebAddress("https://h/whip/sk2f9a81?token=s3cret99"))
    #expect(
      address.redacted(in: "no whip at /whip/sk2f9a81 for s3cret99") == "no whip at /whip/… for …")
  }

  @Test(
    arguments: [
      ("/live/cam", []), ("?mode=caller&latency=200", []), ("?streamid=k1234567#x", ["k1234567"]),
      (
        "?streamid=%23!::r=live%2Fcam,s=k1234567&mode=caller",
        ["%23!::r=live%2Fcam,s=k1234567", "#!::r=live/cam,s=k1234567", "k1234567"]
      ),
    ])
  func keysAreFoundEscapedAndDecoded(path: String, keys: [String]) {
    let found = AddressKeys.found(in: path)
    #expect(Set(found).isSuperset(of: keys), "\(found)")
    #expect(found.isEmpty == keys.isEmpty)
    #expect(found.map(\.count) == found.map(\.count).sorted(by: >))
  }

  @Test func plainHTTPIsAllowedOnlyToThisMachine() throws {
    for near in [
      "http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]:8080/", "http://127.1.2.3/",
    ] {
      _ = try WHIPEndpoint(near)
    }
    for far in [
      "http://192.0.2.1/x", "http://127.0.0.1.example.com/", "http://127.1/",
      "http://localhost.example.com/",
    ] {
      #expect(throws: WHIPError.self) { try WHIPEndpoint(far) }
      _ = try WHIPEndpoint(far, allowsPlainHTTP: true)
    }
  }

  @Test func serversAreParsedFromLinkHeaders() {
    let servers = LinkHeader.servers(in: [
      #"<stun:stun.example.net>; rel="ice-server""#,
      #"<turn:turn.example.net?transport=udp>; rel="ice-server"; username="us\"er,;"; "#
        + #"credential="pass word"; credential-type="password", "#
        + #"<turns:turn.example.net:443?transport=tcp> ; rel = ice-server ; username=u"#
        + "; credential=p",
      #"<https://example.com/next>; rel="next", <stun:no.example.net>; rel="other""#,
      #"<turn:oauth.example.net>; rel="ice-server"; credential-type="oauth""#,
    ])
    #expect(
      servers.map(\.locator) == [
        "stun://stun.example.net:3478",
        "turn://us%22er%2C%3B:pass%20word@turn.example.net:3478?transport=udp",
        "turns://u:p@turn.example.net:443?transport=tcp",
      ])
    #expect("\(servers)".contains("pass") == false)
  }

  @Test(
    arguments: [
      "", "<", "<>", "<stun:a", #"<stun:a>; rel="ice-server"#, #"<stun:>; rel="ice-server""#,
      ";;;,,,", #"<stun:a>;rel"#, #"<turn:a:99999>; rel="ice-server""#,
      #"<turn:a?transport=sctp>; rel="ice-server""#, #"<stun:a b>; rel="ice-server""#,
    ])
  func malformedLinkIsSkipped(header: String) {
    // An unterminated quotation ends with the header; the other headers have no links.
    #expect(LinkHeader.servers(in: [header]).count <= 1)
    let good = #"<stun:good.example.net>; rel="ice-server""#
    #expect(LinkHeader.servers(in: [header, good]).last?.host == "good.example.net")
  }

  @Test func atMostSixteenServersAreUsed() {
    let one = #"<stun:a>; rel="ice-server""#
    let many = Array(repeating: one, count: 50).joined(separator: ", ")
    #expect(LinkHeader.servers(in: [many, many]).count == 16)
  }

  @Test func fragmentHasItsSectionAndCredentials() {
    let offer = SessionDescription(
      "v=0\r\na=group:BUNDLE 0 1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n"
        + "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:1\r\n")
    let candidate = ICECandidate(
      mediaIndex: 0, text: "candidate:1 1 udp 1 192.0.2.1 61764 typ host")
    #expect(
      SDPFragment(offer, [candidate], isComplete: true).text
        == "a=group:BUNDLE 0 1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n"
        + "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro\r\n"
        + "a=candidate:1 1 udp 1 192.0.2.1 61764 typ host\r\na=end-of-candidates\r\n")
    #expect(SDPFragment(offer, [], isComplete: true).text.hasSuffix("a=end-of-candidates\r\n"))
  }

  @Test func backoffDoublesUpToItsLimit() {
    var backOff = BackOff(first: .seconds(1), longest: .seconds(8))
    for wanted in [1.0, 2, 4, 8, 8, 8] {
      let wait = backOff.next()
      #expect(wait <= .seconds(wanted) && wait >= .seconds(wanted * 0.75))
    }
    backOff.reset()
    #expect(backOff.next() <= .seconds(1))
  }
}
