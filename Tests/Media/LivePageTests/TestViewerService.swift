#if Media
  import Synchronization
  import WHIP

  @testable import LivePage

  /// A service without media that records its calls.
  final class TestViewerService: ViewerService {
    static let answer = "v=0\r\nthe answer\r\n"
    private let refusal: ViewerRefusal?
    private let outcome: CandidateOutcome
    private let recorded = Mutex<[String]>([])

    init(refusal: ViewerRefusal? = nil, outcome: CandidateOutcome = .taken) {
      self.refusal = refusal
      self.outcome = outcome
    }

    var words: [String] { recorded.withLock { $0 } }

    private func record(_ word: String) { recorded.withLock { $0.append(word) } }

    func admit(_ offer: String, at localAddress: String) throws(ViewerRefusal) -> AdmittedViewer {
      if let refusal { throw refusal }
      record("offer \(offer) at \(localAddress)")
      return AdmittedViewer(name: "viewer1", answer: Self.answer)
    }

    func add(_ fragment: CandidateFragment, to viewer: String) -> CandidateOutcome {
      guard viewer == "viewer1" else { return .unknownViewer }
      record("candidates \(fragment.candidates.map(\.mid))")
      return outcome
    }

    func remove(_ viewer: String) -> Bool {
      record("remove \(viewer)")
      return viewer == "viewer1"
    }
  }
#endif
