import Testing

@testable import Upload

@Suite struct SpecificationTests {
  @Test func destinationIsSplitAtItsFirstColon() throws {
    let file = try DestinationSpecification("file:/a:b.mkv")
    #expect(file.scheme == "file" && file.address == "/a:b.mkv")
    #expect(try DestinationSpecification("null").address == "")
    for text in ["", ":x", "File:x", "a b:c"] {
      #expect(throws: DestinationError.self) { try DestinationSpecification(text) }
    }
  }

  /// Names without these codes mean what they say, whatever other percent signs they have.
  @Test(arguments: [
    ("web", "web", ""), ("a%3Fb?small=360", "a?b", "?small=360"), ("a%3fb%25", "a?b%", ""),
    ("a%253F", "a%3F", ""), ("100%", "100%", ""),
    ("%2Fa%20%C3%A4%%3F?x%3F", "%2Fa%20%C3%A4%?", "?x%3F"),
  ])
  func directoryHasCodesForQuestionMarkAndPercentSign(
    address: String, path: String, options: String
  ) throws {
    let named = try DestinationSpecification("hls:" + address)
    #expect(named.path == path && named.pathOptions == options)
    let again = try DestinationSpecification(named.at(path))
    #expect(again.path == path && again.pathOptions == options)
    let file = try DestinationSpecification("file:" + address)
    #expect(file.path == address && file.pathOptions == "" && file.at(address) == "file:" + address)
  }

  @Test func unknownDestinationIsRefusedWithAListOfKnownOnes() throws {
    let catalog = DestinationCatalog([.null])
    let error = #expect(throws: DestinationError.self) {
      try catalog.make("whip:https://example.org/whip?key=s3cret")
    }
    #expect(error?.description.contains("“whip:https://example.org/…”") == true)
    #expect(error?.description.contains("it has null") == true)
    #expect(try catalog.make("null").output == "null")
  }

  @Test func policyIsParsedAsTheUserWritesIt() {
    #expect(DeliveryPolicy("latest") == .latest)
    #expect(DeliveryPolicy("keep:3") == .keepLatest(3))
    #expect(DeliveryPolicy("lossless") == .lossless(deadlineSeconds: 10))
    #expect(DeliveryPolicy("lossless:2.5") == .lossless(deadlineSeconds: 2.5))
    for text in ["", "keep", "keep:0", "keep:x", "lossless:0", "lossless:-1", "newest", "latest:1"]
    {
      #expect(DeliveryPolicy(text) == nil, "\(text)")
    }
  }

  @Test func bitrateIsParsedWithItsUnit() throws {
    #expect(try EncoderSettings(encoder: nil, bitrate: "2500k").bitsPerSecond == 2_500_000)
    #expect(try EncoderSettings(encoder: nil, bitrate: "1.5M").bitsPerSecond == 1_500_000)
    #expect(try EncoderSettings(encoder: nil, bitrate: "64000").bitsPerSecond == 64_000)
    for text in ["", "k", "-5M", "5G", "nan", "inf", "0"] {
      #expect(throws: DestinationError.self, "\(text)") {
        try EncoderSettings(encoder: nil, bitrate: text)
      }
    }
    let settings = try EncoderSettings(encoder: "x264:veryfast", bitrate: nil)
    #expect(settings.name == "x264" && settings.preset == "veryfast")
    #expect(settings.bitsPerSecond(width: 1920, height: 1080) == 6_220_800)
  }
}
