import CommandLineSupport
import Testing

/// Secrets in addresses and headers are not logged.
@Suite struct LoggedTextTests {
  @Test(arguments: [
    ("test", "test"), ("screen:1", "screen:1"), ("file:/tmp/a b.mkv", "file:/tmp/a b.mkv"),
    ("y4m:-", "y4m:-"), ("null", "null"),
    ("whip:https://example.org/live/TOKEN", "whip:https://example.org/…"),
    ("whip:https://example.org:8443", "whip:https://example.org:8443"),
    ("whip:https://example.org?key=TOKEN", "whip:https://example.org/…"),
    ("whip:https://user:TOKEN@example.org/live", "whip:…"),
    ("whip:https://user:TO/KEN@example.org/live", "whip:…"),
    ("whip:TOKEN", "whip:…"), ("srt://h:9000?passphrase=TOKEN", "srt://h:9000/…"),
    ("srt:srt://h:9000?passphrase=TOKEN", "srt:srt://h:9000/…"),
    ("rtmp:rtmp://h/app/TOKEN", "rtmp:rtmp://h/…"), ("other:TOKEN", "other:…"),
    ("gst:rtspsrc user-pw=TOKEN ! decodebin", "gst:rtspsrc …"), ("gst:  (TOKEN", "gst: …"),
  ])
  func addressKeepsOnlyItsHost(_ text: String, _ expected: String) {
    #expect(LoggedText.address(text) == expected)
  }

  @Test(arguments: [
    ("could not open rtsp://me:TOKEN@host/x", "could not open rtsp://…@host/x"),
    ("a://b@c and \"d://e@f\" g", "a://…@c and \"d://…@f\" g"),
    (
      "mail me@example.org, see https://example.org", "mail me@example.org, see https://example.org"
    ),
    ("x://a b@c", "x://a b@c"), ("", ""),
  ])
  func messageLosesTheUserOfAnAddress(_ text: String, _ expected: String) {
    #expect(LoggedText.masked(text) == expected)
  }

  @Test func secretIsRecognizedInEachFormThatALibraryMayPrint() {
    #expect(LoggedText.encodings(of: "plain-7") == ["plain-7"])
    #expect(
      LoggedText.encodings(of: "a b%:é") == ["a b%:é", "a%20b%25%3A%C3%A9", "a\\ b\\%:\\303\\251"])
    #expect(LoggedText.encodings(of: "") == [])
  }

  @Test(arguments: [
    ("Authorization: Bearer TOKEN", "Authorization: <private>"),
    ("location: /resource/TOKEN", "location: <private>"), ("ETag: \"1\"", "ETag: \"1\""),
    ("POST /live/TOKEN HTTP/1.1", "POST … HTTP/1.1"), ("HTTP/2 201 ", "HTTP/2 201 "),
    ("TOKEN TOKEN", ""),
  ])
  func headerLosesItsAuthentication(_ line: String, _ expected: String) {
    #expect(LoggedText.header(line) == expected)
  }

  @Test(arguments: [
    "h2h3 [authorization: Bearer TOKEN]", "[HTTP/2] [1] [Authorization: Bearer TOKEN]",
    "[HTTP/2] [1] [:path: /live/TOKEN]", "[a: b] [COOKIE: TOKEN]", "Proxy-Authorization: TOKEN",
  ])
  func libraryTextWithAnAuthenticatingHeaderIsLeftOut(_ text: String) {
    #expect(LoggedText.repeatsHeader(text))
  }

  @Test(arguments: [
    "", "Trying [::1]:8443...", "[HTTP/2] [1] [:method: POST]", "h2h3 [user-agent: framebus]",
    "Server auth using Bearer with user ''", "Connected to localhost (127.0.0.1) port 80",
  ])
  func libraryTextWithoutAnAuthenticatingHeaderIsKept(_ text: String) {
    #expect(!LoggedText.repeatsHeader(text))
  }

  @Test func dropsAreReportedAtOnceAndThenOnceAMinute() {
    var news = DropNews()
    #expect(news.take(0, nowNs: 0) == nil)
    #expect(news.take(3, nowNs: 1) == 3)
    #expect(news.take(9, nowNs: 59_000_000_000) == nil)
    #expect(news.take(10, nowNs: 61_000_000_000) == 7)
    #expect(news.take(10, nowNs: 300_000_000_000) == nil)
    #expect(news.take(11, nowNs: 300_000_000_000) == 1)
  }
}
