/// A session description that came from a peer, as it is safe to give to an engine.
///
/// It has lines of printable ASCII alone, so that nobody reads it otherwise than it is read here:
/// neither by other ends of lines, nor by marks that join a character.
public struct PeerDescription: Hashable, Sendable {
  public private(set) var lines: [String] = []
  public private(set) var candidateCount = 0

  /// Leaves out the candidates that name no address (`….local`): an engine looks such a name up in
  /// the network, with a thread that may wait for ever.
  /// - Parameter overUDPAlone: leaves out the others, too: an engine would open connections to
  ///   wherever they point.
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

  /// Whether `candidate:…` is well formed (RFC 8839, section 5.1) and has an address that need not
  /// be looked up. Words are those between single spaces, as engines see them.
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

  /// Has its sections of pictures and sound receive and send nothing: who offers to send, too, as
  /// is the case without a word on it, would be told that somebody listens.
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

  /// Leaves each section one fingerprint, by SHA-256 if it has one. A peer may name several, and
  /// those of a section replace the session's (RFC 8122, section 5); webrtcbin refuses a
  /// description whose first ones differ.
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
    // The same of several in every section, whatever their order.
    return usual.min() ?? named.min()
  }

  /// The lines of the session, and then those of each medium.
  private var sections: [[String]] {
    var sections: [[String]] = [[]]
    for line in lines {
      if line.hasPrefix("m=") { sections.append([]) }
      sections[sections.count - 1].append(line)
    }
    return sections
  }
}
