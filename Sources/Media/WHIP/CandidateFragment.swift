/// Candidates that a viewer sent (RFC 8840), validated.
public struct CandidateFragment: Hashable, Sendable {
  /// A candidate and the name of its media section.
  public struct Candidate: Hashable, Sendable {
    public let mid: String
    /// `candidate:…`
    public let text: String
  }

  private static let longestCandidate = 512

  /// Identifies the ICE session; nil if the fragment omits it.
  public private(set) var usernameFragment: String?
  public private(set) var candidates: [Candidate] = []
  /// The size in which the viewer shows the pictures from now on, if the fragment states it.
  public private(set) var shownSize: ShownSize?

  /// Candidates without a literal address (a browser's `….local`) are skipped, because looking
  /// them up would query the network. TCP candidates are skipped, because they would let a viewer
  /// make this machine connect to any address.
  /// - Returns: nil if the text is malformed.
  public init?(_ text: String) {
    var mid = ""
    for line in text.split(whereSeparator: \.isNewline) {
      guard line.hasPrefix("a=") || line.hasPrefix("m=") else { return nil }
      let attribute = line.dropFirst(2)
      if let value = Self.value(of: "ice-ufrag", in: attribute) {
        usernameFragment = String(value)
      } else if let value = Self.value(of: "mid", in: attribute) {
        mid = String(value)
      } else if let size = ShownSize(attribute: attribute) {
        shownSize = size
      } else if attribute.hasPrefix("candidate:") {
        guard attribute.utf8.count <= Self.longestCandidate else { return nil }
        guard attribute.split(separator: " ").count >= 8 else { return nil }
        if PeerDescription.isUsable(attribute, overUDPAlone: true) {
          candidates.append(Candidate(mid: mid, text: String(attribute)))
        }
      }
    }
  }

  private static func value(of name: String, in attribute: Substring) -> Substring? {
    attribute.hasPrefix(name + ":") ? attribute.dropFirst(name.count + 1) : nil
  }
}
