import Capture
import FrameBus
import Testing

@Suite struct SpecificationTests {
  @Test(arguments: [
    ("screen", SourceSpecification.screen(display: nil)),
    ("screen:1", .screen(display: ":1")),
    ("screen::1.0", .screen(display: ":1.0")),
    ("screen:host:0", .screen(display: "host:0")),
    ("test", .test(.bars)),
    ("test:noise", .test(.noise)),
    ("file:/a:b.mkv", .file(path: "/a:b.mkv")),
    ("y4m:-", .y4m(path: nil)),
    ("y4m:a.y4m", .y4m(path: "a.y4m")),
    ("gst:videotestsrc ! queue", .pipeline("videotestsrc ! queue")),
    ("window:0x2a", .window(.id(42))),
    ("window:pick", .window(.pick)),
    ("pulse", .pulse(.monitor)),
    ("pulse:mic", .pulse(.microphone)),
    ("stream:game", .stream(try! StreamName("game"))),
  ])
  func sourcesAreParsed(text: String, expected: SourceSpecification) throws {
    #expect(try SourceSpecification(text) == expected)
    // Its own text names the same source.
    #expect(try SourceSpecification("\(expected)") == expected)
  }

  @Test(arguments: [("tone", "tone:1000.0"), ("beep:440", "beep:440.0"), ("pulse:x", "pulse:x")])
  func sourceOfSoundHasText(text: String, description: String) throws {
    #expect(try "\(SourceSpecification(text))" == description)
  }

  @Test(
    arguments: [
      "", "scren", "file", "file:", "y4m", "screen:", "test:x", "gst: ", "camera:", "stream",
      "stream:A",
    ])
  func unknownSourceIsRefusedWithAListOfSources(text: String) {
    let error = #expect(throws: SourceSpecificationError.self) {
      try SourceSpecification(text)
    }
    let message = error?.description ?? ""
    #expect(!message.isEmpty && !message.contains("\n"))
    if case .unknown = error { #expect(message.contains("screen[:DISPLAY]")) }
  }

  @Test func ratesAndSizesAreParsed() throws {
    #expect(try parseFrameRate("60") == FrameRate(60))
    #expect(try parseFrameRate("30000/1001") == FrameRate(30000, 1001))
    #expect(try parseSize("640x480") == PixelRect(x: 0, y: 0, width: 640, height: 480))
    #expect(try parseSize("64x48+5+6") == PixelRect(x: 5, y: 6, width: 64, height: 48))
    for text in ["0", "241", "x", "1/2", "30/0", "-1", "30/1/1", ""] {
      #expect(throws: CaptureOptionError.badRate(text)) { try parseFrameRate(text) }
    }
    for text in ["640", "640x", "0x1", "1x99999", "1x1+1", "1x1+1+99999", "axb", "x"] {
      #expect(throws: CaptureOptionError.badSize(text)) { try parseSize(text) }
    }
  }
}
