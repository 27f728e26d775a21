#if Media
  import Testing
  import WHIP

  @testable import LivePage

  @Suite struct AddressTests {
    @Test(
      arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("8080", "127.0.0.1:8080"), ("[::1]", "[::1]"), ("[::1]:8080", "[::1]:8080"),
        ("0.0.0.0:1", "0.0.0.0:1"),
      ])
    func addressesAreParsed(text: String, meaning: String) {
      #expect(ListenAddress(text)?.description == meaning)
    }

    @Test(
      arguments: [
        "", "localhost", "localhost:8080", "example.com", "127.0.0.1:", "127.0.0.1:65536",
        "127.0.0.1:+1", "1.2.3.4.5", "256.1.1.1", "[::1", "::1", "[localhost]:1", "-1",
        "127.0.0.1/8",
      ])
    func namesAndMalformedAddressesAreRefused(text: String) {
      #expect(ListenAddress(text) == nil)
    }

    @Test func onlyIPAddressesAreLiteral() {
      for text in ["127.0.0.1", "0.0.0.0", "::1", "fe80::1", "::ffff:1.2.3.4"] {
        #expect(NetworkAddress.isLiteral(text), "\(text)")
      }
      for text in ["", "a.local", "1.2.3", "1.2.3.+4", "evil.example:80", "１.1.1.1", "::g"] {
        #expect(!NetworkAddress.isLiteral(text), "\(text)")
      }
    }
  }
#endif
