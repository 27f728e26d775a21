/// A session description from a peer, made safe for an engine.
///
/// Its lines are printable ASCII, so that every parser reads it as this one does: without other
/// line ends, and without combining characters.
public struct PeerDescription: Hashable, Sendable {
  public private(set) var lines: [String] = []
  public private(set) var candidateCount = 0

  /// Removes candidates that have a name instead of an address (`….local`), because an engine looks
  /// up such a name on a thread that may block forever.
  /// - Parameter overUDPAlone: also removes candidates of other transports, because an engine would
  ///   open connections to any address that they name.
  public init(_ text: String, overUDPAlone: Bool) {
    let parts = text.utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    for part in parts {
      let bytes = part.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
      var line = String(decoding: bytes, as: UTF8.self).drop { $0 == " " }
      if line.hasPrefix("a=") {
        let attribute = line.dropFirst(2).drop { $0 == " " }
        if attribute.hasPrefix("candidate") {
          guard Self.isUsable(attribute, overUDPAlone: overUDPAlone) else { continue }
          candidateCount += 1
        }
        line = "a=" + attribute
      }
      if !line.isEmpty { lines.append(String(line)) }
    }
  }

  public var text: String { lines.map { $0 + "\r\n" }.joined() }

  /// Whether `candidate:…` is well formed (RFC 8839, section 5.1) and has a literal address. Words
  /// are separated by single spaces, as engines expect.
  static func isUsable(_ attribute: Substring, overUDPAlone: Bool) -> Bool {
    guard attribute.hasPrefix("candidate:"),
      attribute.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
    else { return false }
    let words = attribute.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 8, words.prefix(8).allSatisfy({ !$0.isEmpty }),
      NetworkAddress.isLiteral(words[4]), isNumber(words[1], in: 1...256),
      isNumber(words[3], in: 0...Int(UInt32.max)), isNumber(words[5], in: 0...65535),
      words[6].lowercased() == "typ"
    else { return false }
    return !overUDPAlone || words[2].lowercased() == "udp"
  }

  private static func isNumber(_ word: Substring, in range: ClosedRange<Int>) -> Bool {
    word.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int(word).map(range.contains) == true
  }

  private static let received = [
    "a=sendrecv": "a=recvonly", "a=recvonly": "a=recvonly", "a=sendonly": "a=inactive",
    "a=inactive": "a=inactive",
  ]

  /// Sets the direction of the audio and video sections to receive only. A peer that offers to
  /// send, which is the default direction, would otherwise be told that its media are received.
  public mutating func receiveOnly() {
    var sections = sections
    let common = sections[0].lazy.compactMap { Self.received[$0] }.first ?? "a=recvonly"
    for index in sections.indices.dropFirst() {
      let head = sections[index][0]
      guard head.hasPrefix("m=audio ") || head.hasPrefix("m=video ") else { continue }
      let hasDirection = sections[index].contains { Self.received[$0] != nil }
      sections[index] = sections[index].map { Self.received[$0] ?? $0 }
      if !hasDirection { sections[index].append(common) }
    }
    lines = sections.flatMap { $0 }
  }

  /// Gives a section that is offered only in a bundle (RFC 9143, section 6) a port, because
  /// webrtcbin takes its port 0 for one that is refused. Firefox offers sound so.
  public mutating func openBundledSections() {
    lines = sections.flatMap { section in
      guard section.contains("a=bundle-only") else { return section }
      var words = section[0].split(separator: " ", omittingEmptySubsequences: false)
      if words.count > 1, words[1] == "0" { words[1] = "9" }
      return [words.joined(separator: " ")] + section.dropFirst().filter { $0 != "a=bundle-only" }
    }
  }

  /// Keeps one fingerprint per section, a SHA-256 one if there is one. A peer may list several,
  /// and those of a section replace the session's (RFC 8122, section 5); webrtcbin refuses a
  /// description whose sections begin with different ones.
  public mutating func nameOneFingerprint() {
    var sections = sections
    let common = Self.fingerprint(in: sections[0])
    for index in sections.indices {
      let own = Self.fingerprint(in: sections[index])
      sections[index].removeAll { $0.hasPrefix(Self.fingerprintStart) }
      if index > 0, let named = own ?? common { sections[index].append(named) }
    }
    lines = sections.flatMap { $0 }
  }

  private static let fingerprintStart = "a=fingerprint:"

  private static func fingerprint(in section: [String]) -> String? {
    let named = section.filter { $0.hasPrefix(fingerprintStart) }
    let usual = named.filter { $0.lowercased().hasPrefix(fingerprintStart + "sha-256 ") }
    // The smallest, so that every section gets the same one whatever their order.
    return usual.min() ?? named.min()
  }

  /// The lines of the session, then those of each media section.
  private var sections: [[String]] {
    var sections: [[String]] = [[]]
    for line in lines {
      if line.hasPrefix("m=") { sections.append([]) }
      sections[sections.count - 1].append(line)
    }
    return sections
  }
}
