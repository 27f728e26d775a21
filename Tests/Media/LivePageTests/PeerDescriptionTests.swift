#if Media
  import Testing
  import WHIP

  /// The parts of a peer's description that an engine gets.
  @Suite struct PeerDescriptionTests {
    private static let known = "candidate:1 1 udp 2113937151 127.0.0.1 4242 typ host"
    private static let overTCP =
      "candidate:2 1 TCP 2113937151 127.0.0.1 4242 typ host tcptype passive"

    @Test(arguments: ["\r\n", "\n", "\r"])
    func onlyCandidatesWithAddressesAreKept(end: String) {
      let lines = [
        "v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=\(Self.known)",
        "a=candidate:3 1 udp 2113937151 4f3c.local 4242 typ host", "a=\(Self.overTCP)",
        "a=mid:0",
      ]
      let text = lines.joined(separator: end)
      let viewers = PeerDescription(text, overUDPAlone: true)
      #expect(viewers.lines == [lines[0], lines[1], lines[2], lines[5]])
      #expect(viewers.candidateCount == 1)
      #expect(viewers.text == viewers.lines.joined(separator: "\r\n") + "\r\n")
      let servers = PeerDescription(text, overUDPAlone: false)
      #expect(servers.lines == [lines[0], lines[1], lines[2], lines[4], lines[5]])
    }

    /// Lines that some parsers read as candidates and others do not.
    @Test(
      arguments: [
        "a= candidate:1 1 udp 1 x.local 4242 typ host",
        " a=candidate:1 1 udp 1 x.local 4242 typ host",
        "a=candidate:\u{301}1 1 udp 1 x.local 4242 typ host",
        "a=candidate:1  1 udp x.local 127.0.0.1 4242 typ host",
        "a=candidate:1 \u{301} udp 1 x.local 127.0.0.1 4242 typ host",
        "a=candidate:1 1 udp 1 x.local 4242 typ", "a=candidate x.local",
        // Malformed candidates, on which libnice prints errors.
        "a=candidate:1 0 udp 1 127.0.0.1 4242 typ host",
        "a=candidate:1 257 udp 1 127.0.0.1 4242 typ host",
        "a=candidate:1 -1 udp 1 127.0.0.1 4242 typ host",
        "a=candidate:1 1 udp 4294967296 127.0.0.1 4242 typ host",
        "a=candidate:1 1 udp 1 127.0.0.1 65536 typ host",
        "a=candidate:1 1 udp 1 127.0.0.1 99999999999999999999 typ host",
        "a=candidate:1 1 udp 1 127.0.0.1 4242 kind host",
      ])
    func noVariantOfACandidateKeepsAName(line: String) {
      let description = PeerDescription("v=0\r\n" + line, overUDPAlone: true)
      #expect(description.lines == ["v=0"] && description.candidateCount == 0)
    }

    @Test func eachSectionKeepsOneFingerprint() {
      func print(_ hash: String, _ byte: String) -> String {
        "a=fingerprint:\(hash) \(byte):\(byte)"
      }
      let (old, first, second) = (
        print("sha-1", "AB"), print("sha-256", "AB"), print("SHA-256", "CD")
      )
      func named(_ session: [String], _ sections: [String]...) -> [String] {
        let lines = ["v=0"] + session + sections.flatMap { ["m=video 9 UDP/TLS/RTP/SAVPF 96"] + $0 }
        var description = PeerDescription(lines.joined(separator: "\n"), overUDPAlone: true)
        description.nameOneFingerprint()
        return description.lines.filter { !$0.hasPrefix("v=") && !$0.hasPrefix("m=") }
      }
      #expect(named([], [old, first], [first, old]) == [first, first])
      #expect(named([first], []) == [first] && named([old], [old]) == [old])
      // A section's own fingerprint takes precedence.
      #expect(named([old], [first], []) == [first, old])
      #expect(named([], [first, second], [second, first]) == [second, second])
      #expect(named([], [], []) == [])
    }

    @Test func fragmentsAreParsedAsStrictly() {
      let fragment = CandidateFragment(
        [
          "a=mid:0", "a=\(Self.known)", "a=\(Self.overTCP)",
          "a=candidate:1  1 udp x.local 127.0.0.1 4242 typ host",
        ].joined(separator: "\n"))
      #expect(fragment?.candidates.map(\.text) == [Self.known])
    }

    @Test func viewersOfferIsReducedToReceiveOnly() {
      let head = ["v=0", "s=-"]
      let picture = ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=sendrecv", "a=mid:0"]
      let sound = ["m=audio 9 UDP/TLS/RTP/SAVPF 97", "a=mid:1"]
      let data = ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=sendrecv"]
      func received(_ lines: [String]) -> [String] {
        var description = PeerDescription(lines.joined(separator: "\n"), overUDPAlone: true)
        description.receiveOnly()
        return description.lines
      }
      let changed = [picture[0], "a=recvonly", picture[2]]
      let both: [String] = head + picture + sound
      let bothReceived: [String] = head + changed + sound
      #expect(received(both + data) == bothReceived + ["a=recvonly"] + data)
      let heard: [String] = head + ["a=sendonly"] + sound
      #expect(received(heard) == heard + ["a=inactive"])
      #expect(received(head + changed) == head + changed)
    }

    /// As Firefox offers sound with pictures (RFC 9143, section 7.2.1).
    @Test func sectionOfABundleIsNotTakenForARefusedOne() {
      let head = ["v=0", "a=group:BUNDLE 0 1", "m=video 9 UDP/TLS/RTP/SAVPF 120", "a=mid:0"]
      let refused = ["m=audio 0 UDP/TLS/RTP/SAVPF 9", "a=mid:2"]
      func opened(_ sound: [String]) -> [String] {
        let text = (head + sound + refused).joined(separator: "\r\n")
        var description = PeerDescription(text, overUDPAlone: true)
        description.openBundledSections()
        return description.lines
      }
      let sound = ["m=audio 9 UDP/TLS/RTP/SAVPF 109", "a=mid:1"]
      let bundled = ["m=audio 0 UDP/TLS/RTP/SAVPF 109", "a=bundle-only", "a=mid:1"]
      #expect(opened(bundled) == head + sound + refused)
      #expect(opened(sound) == head + sound + refused)
    }
  }
#endif
