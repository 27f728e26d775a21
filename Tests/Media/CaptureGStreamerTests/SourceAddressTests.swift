#if Media
  import Capture
  import Testing

  /// Addresses of other machines' streams.
  @Suite struct SourceAddressTests {
    private func address(_ text: String) throws -> SourceAddress {
      guard case .network(let address) = try SourceSpecification(text) else {
        throw SourceSpecificationError.unknown(text)
      }
      #expect("\(SourceSpecification.network(address))" == text)
      return address
    }

    @Test(arguments: [
      ("srt://Live.example.com:9000?streamid=a", "live.example.com", 9000),
      ("srt://[::1]:9000", "::1", 9000), ("srt://:9000", "", 9000),
      ("rtmp://h/live/cam", "h", 1935), ("rtsp://h:8554/cam", "h", 8554),
      ("rtsps://h/cam", "h", 322), ("whep:https://h/cam", "h", 443),
      ("hls:http://h:81/a.m3u8?b=c", "h", 81),
    ])
    func hostAndPortAreFound(text: String, host: String, port: Int) throws {
      let address = try address(text)
      #expect(address.host == host && Int(address.port) == port)
    }

    @Test func listenersAreKnown() throws {
      for text in ["srt://:9000", "srt://h:9000?latency=5&mode=listener"] {
        #expect(try address(text).listens)
      }
      for text in ["srt://h:9000", "srt://h:9000?mode=caller", "rtmp://h/mode=listener/a"] {
        #expect(try !address(text).listens)
      }
    }

    @Test(arguments: [
      "srt", "srt:", "srt://", "srt://h", "srt:h:1", "srt://h:0", "srt://h:70000", "srt://h h:1",
      "srt://h:1\n", "srt://h:1/\u{e9}", "rtmp:///a", "rtsp://:554/a", "whep:h", "whep:ftp://h/a",
      "hls:", "hls:https:///a", "srt://\(String(repeating: "a", count: 2048)):1",
    ])
    func malformedAddressesAreRefused(text: String) {
      #expect(throws: SourceSpecificationError.self) { try SourceSpecification(text) }
    }

    @Test func keysAreNotShown() throws {
      let address = try address("srt://h:1?streamid=%23!::r=cam,s=sk-51f00d77")
      #expect(!address.shown.contains("51f00d77"))
      #expect(address.keys.contains { $0.contains("sk-51f00d77") })
      #expect(try self.address("rtmp://h/live/key12345678").shown == "rtmp://h:1935/live/key…")
    }
  }
#endif
