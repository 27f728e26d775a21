#if Media
  import FrameBus
  import LivePage
  import Platform
  import Synchronization
  import UploadGStreamer
  import WHIP

  /// The streams of the page: the first, and those that viewers choose (`--also`). Each has an
  /// encoder of its own while it is watched.
  ///
  /// All of them together have as many viewers as one stream may have, which bounds the number of
  /// encoders. A stream that nobody watches is forgotten when another one is chosen.
  final class LiveShows: StreamChoices {
    let first: LiveShow
    private let maximumViewers: Int
    private let list: StreamList
    private let make: @Sendable (StreamName) throws(ViewerRefusal) -> LiveShow
    private let stage = Mutex(Stage())

    private struct Stage {
      var chosen: [StreamName: LiveShow] = [:]
      /// Viewers that are being admitted, by stream.
      var entering: [StreamName: Int] = [:]
      /// Of streams that were forgotten.
      var forgotten = ViewSummary()
    }

    /// - Parameter make: makes and starts the show of a stream.
    init(
      _ first: LiveShow, _ list: StreamList, maximumViewers: Int,
      make: @escaping @Sendable (StreamName) throws(ViewerRefusal) -> LiveShow
    ) {
      self.first = first
      self.list = list
      self.maximumViewers = maximumViewers
      self.make = make
    }

    /// The service of the first stream.
    var service: any ViewerService { ShowService(shows: self, stream: first.stream) }

    // MARK: What the page asks

    func service(of name: String) -> (any ViewerService)? {
      guard let stream = list.permitted(name) else { return nil }
      return ShowService(shows: self, stream: stream)
    }

    func figures(of name: String) -> String? {
      guard let stream = list.permitted(name) else { return nil }
      let streams = list.present()
      return show(of: stream)?.figures.json(streams) ?? ViewFigures.jsonOfIdle(streams)
    }

    /// Of the first stream.
    var figures: String { first.figures.json(list.present()) }

    // MARK: Viewers

    fileprivate func show(of stream: StreamName) -> LiveShow? {
      stream == first.stream ? first : stage.withLock { $0.chosen[stream] }
    }

    /// The show of a stream to which a viewer is being admitted, until `leave`.
    fileprivate func enter(_ stream: StreamName) throws(ViewerRefusal) -> LiveShow {
      try stage.withLock { stage throws(ViewerRefusal) -> LiveShow in
        let watching = stage.chosen.values.reduce(first.viewers.count) { $0 + $1.viewers.count }
        let entering = stage.entering.values.reduce(0, +)
        guard watching + entering < maximumViewers else { throw .full(maximumViewers) }
        let known = stream == first.stream ? first : stage.chosen[stream]
        let show: LiveShow
        if let known {
          show = known
        } else {
          forgetUnwatched(&stage)
          show = try make(stream)
          stage.chosen[stream] = show
        }
        stage.entering[stream, default: 0] += 1
        return show
      }
    }

    fileprivate func leave(_ stream: StreamName) {
      stage.withLock { stage in
        stage.entering[stream, default: 0] -= 1
        if stage.entering[stream] == 0 { stage.entering[stream] = nil }
      }
    }

    private func forgetUnwatched(_ stage: inout Stage) {
      for (stream, show) in stage.chosen
      where show.viewers.count == 0 && stage.entering[stream] == nil {
        show.stop.raise()
        stage.chosen[stream] = nil
        stage.forgotten.add(show)
      }
    }

    // MARK: The end

    /// Ends the chosen streams, and waits for that.
    func end() {
      let chosen = stage.withLock { Array($0.chosen.values) }
      for show in chosen { show.stop.raise() }
      for show in chosen { show.waitForEnd() }
    }

    /// The numbers of viewers and frames so far.
    var total: ViewSummary {
      stage.withLock { stage in
        var total = stage.forgotten
        for show in stage.chosen.values { total.add(show) }
        total.add(first)
        return total
      }
    }
  }

  /// What was shown, in JSON.
  struct ViewSummary: Encodable {
    var viewers = 0
    var frames = 0

    mutating func add(_ show: LiveShow) {
      viewers += show.viewers.admittedCount
      frames += show.figures.frames
    }
  }

  /// The viewers of one stream of the page.
  private struct ShowService: ViewerService {
    let shows: LiveShows
    let stream: StreamName

    func admit(
      _ offer: String, at localAddress: String
    ) throws(ViewerRefusal) -> AdmittedViewer {
      let show = try shows.enter(stream)
      defer { shows.leave(stream) }
      return try show.viewers.admit(offer, at: localAddress)
    }

    func add(_ fragment: CandidateFragment, to viewer: String) -> CandidateOutcome {
      shows.show(of: stream)?.viewers.add(fragment, to: viewer) ?? .unknownViewer
    }

    func remove(_ viewer: String) -> Bool {
      shows.show(of: stream)?.viewers.remove(viewer) ?? false
    }
  }
#endif
