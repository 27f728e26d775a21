/// A local candidate and the media section that it belongs to.
public struct ICECandidate: Hashable, Sendable {
  public let mediaIndex: Int
  /// `candidate:…`, as in a session description.
  public let text: String

  public init(mediaIndex: Int, text: String) {
    self.mediaIndex = mediaIndex
    self.text = text
  }
}

/// Candidates to send to the endpoint, in the format of RFC 8840, which RFC 9725 requires.
struct SDPFragment {
  let text: String

  init(_ offer: SessionDescription, _ candidates: [ICECandidate], isComplete: Bool) {
    var lines = offer.attributes.filter { $0.hasPrefix("group:BUNDLE") }.map { "a=" + $0 }
    let credentials = ["ice-ufrag", "ice-pwd"].compactMap { name in
      offer.value(of: name).map { "a=\(name):\($0)" }
    }
    // In a bundle, all candidates belong to the first section.
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
