import CFuzzer
import FuzzSupport
import Platform
import WHIP

/// Fuzzes the texts of peers of a live upload and of the live page: session descriptions,
/// candidates, headers that recommend servers, addresses, and receiver reports.
///
/// The first byte of an input chooses the kind; its text follows.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let kind = input.byte()
        let received = input.bytes(count)
        let text = String(decoding: received, as: UTF8.self)
        switch kind % 5 {
        case 0: Program.describe(text)
        case 1: Program.takeCandidates(text)
        case 2: Program.readLinks(text)
        case 3: Program.resolve(text)
        default: Program.receive(received)
        }
        return 0
      })
  }

  /// Checks that parsing an engine's text again gives the same text.
  private static func describe(_ text: String) {
    for isOverUDPAlone in [false, true] {
      var description = PeerDescription(text, overUDPAlone: isOverUDPAlone)
      description.receiveOnly()
      description.nameOneFingerprint()
      let lines = description.lines
      let again = PeerDescription(description.text, overUDPAlone: isOverUDPAlone)
      precondition(again.lines == lines && again.candidateCount == description.candidateCount)
      precondition(description.text.utf8.allSatisfy { $0 < 0x7f })
      description.nameOneFingerprint()
      precondition(description.lines == lines)
      let session = SessionDescription(description.text)
      _ = session.media.map { ($0.codecs, $0.receives, $0.kind) }
    }
  }

  private static func takeCandidates(_ text: String) {
    for candidate in CandidateFragment(text)?.candidates ?? [] {
      precondition(candidate.text.utf8.allSatisfy { (0x20...0x7e).contains($0) })
      let lines = PeerDescription("a=" + candidate.text, overUDPAlone: true).lines
      precondition(lines == ["a=" + candidate.text])
    }
  }

  private static func readLinks(_ text: String) {
    let servers = LinkHeader.servers(in: text.split(separator: "\n").map(String.init))
    precondition(servers.count <= LinkHeader.maximumServers)
    for server in servers { _ = (server.description, server.locator, server.hostName) }
  }

  private static func resolve(_ text: String) {
    guard let base = WebAddress("https://example.com/whip/a?b=c") else { fatalError("no address") }
    for found in [WebAddress(text), base.resolving(text)].compactMap(\.self) {
      precondition(WebAddress(found.text) == found)
      _ = found.description
    }
  }

  private static func receive(_ packet: [UInt8]) {
    let reports = ReceiverReports()
    reports.receive(packet)
    reports.receive(packet)
    if let share = reports.take()?.lostShare { precondition((0...1).contains(share)) }
  }
}
