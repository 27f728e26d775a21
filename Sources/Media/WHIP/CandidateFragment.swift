/// Candidates on their way from a viewer (RFC 8840), checked.
public struct CandidateFragment: Hashable, Sendable {
  /// A candidate, and the name of the media section that it is of.
  public struct Candidate: Hashable, Sendable {
    public let mid: String
    /// `candidate:…`
    public let text: String
  }

  private static let longestCandidate = 512

  /// Tells apart sessions; nil if it is left out.
  public private(set) var usernameFragment: String?
  public private(set) var candidates: [Candidate] = []

  /// - Returns: nil if it is no fragment. A candidate that names no address is left out: to look
  ///   up what a browser calls `….local` is not worth asking the network. So is one of TCP, by
  ///   which a viewer would have this machine connect to wherever it likes.
  public init?(_ text: String) {
    var mid = ""
    for line in text.split(whereSeparator: \.isNewline) {
      guard line.hasPrefix("a=") || line.hasPrefix("m=") else { return nil }
      let attribute = line.dropFirst(2)
      if let value = Self.value(of: "ice-ufrag", in: attribute) {
        usernameFragment = String(value)
      } else if let value = Self.value(of: "mid", in: attribute) {
        mid = String(value)
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
