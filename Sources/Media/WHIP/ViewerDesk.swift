/// The side of WHEP (draft-ietf-wish-whep) that has the media: it answers the offers of those who
/// want to watch. Any thread may call it, and it may take its time.
public protocol ViewerDesk: Sendable {
  /// Answers an offer.
  /// - Parameter localAddress: the address of this machine that the viewer reached, of which it
  ///   may learn candidates.
  func admit(
    _ offer: String, at localAddress: String
  ) throws(ViewerRefusal) -> AdmittedViewer
  /// Takes candidates of a viewer.
  func add(_ fragment: CandidateFragment, to viewer: String) -> CandidateOutcome
  /// - Returns: false if there is no such viewer.
  func remove(_ viewer: String) -> Bool
}

/// A viewer that is sent media as soon as it can be reached.
public struct AdmittedViewer: Sendable {
  /// A name that nobody guesses, of letters and digits.
  public let name: String
  public let answer: String

  public init(name: String, answer: String) {
    self.name = name
    self.answer = answer
  }
}

/// What became of candidates.
public enum CandidateOutcome: Sendable {
  case taken
  case unknownViewer
  case tooMany
  /// They are of another session than the viewer's offer, as when ICE begins anew.
  case otherSession
}

/// Why an offer is not answered.
public enum ViewerRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  case malformed(String)
  case noCommonCodec(String)
  case full(Int)
  case engineFailed(String)

  public var description: String {
    switch self {
    case .malformed(let what):
      "the offer cannot be used: \(what); send what RTCPeerConnection.createOffer makes"
    case .noCommonCodec(let codecs):
      "the offer receives nothing that is sent here: \(codecs); add a transceiver for it"
    case .full(let count):
      "\(count) viewers are watching already; close one, or allow more by --viewers"
    case .engineFailed(let reason): "WebRTC failed: \(reason)"
    }
  }
}
