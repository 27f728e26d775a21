/// A candidate of ours, and the media section it belongs to.
public struct ICECandidate: Hashable, Sendable {
  public let mediaIndex: Int
  /// `candidate:…`, as a line of a session description has it.
  public let text: String

  public init(mediaIndex: Int, text: String) {
    self.mediaIndex = mediaIndex
    self.text = text
  }
}

/// Candidates on their way to the endpoint (RFC 8840, as RFC 9725 asks for it).
struct SDPFragment {
  let text: String

  init(_ offer: SessionDescription, _ candidates: [ICECandidate], isComplete: Bool) {
    var lines = offer.attributes.filter { $0.hasPrefix("group:BUNDLE") }.map { "a=" + $0 }
    let credentials = ["ice-ufrag", "ice-pwd"].compactMap { name in
      offer.value(of: name).map { "a=\(name):\($0)" }
    }
    // In a bundle all candidates belong to its first section.
    let sections = candidates.isEmpty ? [0] : Set(candidates.map(\.mediaIndex)).sorted()
    for section in sections where offer.media.indices.contains(section) {
      let media = offer.media[section]
      lines += ["m=" + media.line, "a=mid:" + media.mid] + credentials
      lines += candidates.filter { $0.mediaIndex == section }.map { "a=" + $0.text }
      if isComplete { lines.append("a=end-of-candidates") }
    }
    text = lines.map { $0 + "\r\n" }.joined()
  }
}
