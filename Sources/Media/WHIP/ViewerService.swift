/// The media side of WHEP (WebRTC-HTTP Egress Protocol, an IETF draft): it answers the offers of
/// viewers. Any thread may call it; calls may block.
public protocol ViewerService: Sendable {
  /// Answers an offer.
  /// - Parameter localAddress: the address of this machine that the viewer connected to; the
  ///   answer's candidates use it.
  func admit(
    _ offer: String, at localAddress: String
  ) throws(ViewerRefusal) -> AdmittedViewer
  /// Adds candidates of a viewer.
  func add(_ fragment: CandidateFragment, to viewer: String) -> CandidateOutcome
  /// - Returns: false if there is no such viewer.
  func remove(_ viewer: String) -> Bool
}

/// A viewer that receives media as soon as its connection is established.
public struct AdmittedViewer: Sendable {
  /// A random name of letters and digits that cannot be guessed.
  public let name: String
  public let answer: String

  public init(name: String, answer: String) {
    self.name = name
    self.answer = answer
  }
}

/// The result of adding candidates.
public enum CandidateOutcome: Sendable {
  case taken
  case unknownViewer
  case tooMany
  /// They belong to a session other than the viewer's offer, as after an ICE restart.
  case otherSession
}

/// Why an offer is refused.
public enum ViewerRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  case malformed(String)
  case noCommonCodec(String)
  case full(Int)
  case engineFailed(String)

  public var description: String {
    switch self {
    case .malformed(let what):
      "the offer cannot be used: \(what); send one made by RTCPeerConnection.createOffer"
    case .noCommonCodec(let codecs):
      "the viewer plays none of the codecs sent here: \(codecs); start `framebus view` with "
        + "another --encoder, x264 or vp8"
    case .full(let count):
      "\(count) viewers are watching already; close one, or allow more with --viewers"
    case .engineFailed(let reason): "WebRTC failed: \(reason)"
    }
  }
}
