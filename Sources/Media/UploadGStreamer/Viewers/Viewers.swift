#if Media
  import FrameBus
  import Platform
  import Synchronization
  import Upload
  import WHIP

  /// All viewers: admits them, sends encoded units to each, and frees those that have left.
  ///
  /// It refuses to wait for a viewer: one that is too slow resumes at the next key frame.
  public final class Viewers: ViewerService {
    public struct Options: Sendable {
      public var encoder = EncoderSettings()
      public var sendsSound = false
      public var maximumCount = 8

      public init() {}
    }

    /// Local candidates are gathered almost at once, since no server is asked.
    private static let gatheringTimeout = Duration.seconds(5)
    private static let pollInterval = Duration.seconds(1)
    /// Media continue for this long without viewers, because a reloaded page leaves and returns.
    private static let lingerTime = Duration.seconds(2)

    let encoder: any LiveEncoder
    private let options: Options
    private let room = Mutex(Room())
    /// Changes with every change of any viewer.
    private let changes = PrivateFutexWord()
    private let keyFrameWanted = Atomic(false)

    private struct Room {
      var viewers: [Viewer] = []
      /// Viewers that are being admitted.
      var reserved = 0
      var admittedCount = 0
      var emptySinceNs: UInt64?
      /// That of the newest viewers.
      var demand = Demand.everything
      var isClosed = false

      func isDeserted(for time: Duration) -> Bool {
        guard viewers.isEmpty, let emptySinceNs else { return viewers.isEmpty && reserved == 0 }
        return Deadline(monotonicNs: emptySinceNs &+ time.clampedNanoseconds).isPast
      }
    }

    public init(_ options: Options) throws(DestinationError) {
      self.options = options
      try GStreamerRuntime.start()
      encoder = try LiveEncoders.make(options.encoder, profile: .baseline)
      try GStreamerRuntime.require([.viewerTransport, encoder.packer, .opusPacker])
    }

    /// The present number of viewers.
    public var count: Int { room.withLock { $0.viewers.count } }
    /// The number of viewers admitted so far.
    public var admittedCount: Int { room.withLock { $0.admittedCount } }

    /// The largest size in which a viewer shows the pictures. Between two viewers, that of before:
    /// a page that is reloaded comes back in the same size.
    var demand: Demand {
      room.withLock { room in
        let sizes = room.viewers.map(\.state.shownSize)
        let known = sizes.compactMap { $0 }
        if sizes.isEmpty { return room.demand }
        room.demand = .everything
        // One that states nothing shows them in full size.
        if known.count == sizes.count, let width = known.map(\.width).max(),
          let height = known.map(\.height).max()
        {
          room.demand.box = Demand.Box(width: width, height: height)
        }
        return room.demand
      }
    }

    // MARK: Admission

    public func admit(
      _ text: String, at localAddress: String
    ) throws(ViewerRefusal) -> AdmittedViewer {
      let offer = try ViewerOffer(
        text, codec: encoder.codec.rtpName, hasSound: options.sendsSound)
      try reserve()
      defer { room.withLock { $0.reserved -= 1 } }
      let state = ViewerState { [weak self] wantsKeyFrame in
        if wantsKeyFrame { self?.requestKeyFrame() }
        self?.touch()
      }
      let viewer = try Viewer(offer, at: localAddress, encoder: encoder, state: state)
      guard let answer = viewer.answer(until: .after(Self.gatheringTimeout), changes) else {
        throw .engineFailed("webrtcbin made no answer")
      }
      room.withLock {
        $0.viewers.append(viewer)
        $0.admittedCount += 1
        $0.emptySinceNs = nil
      }
      touch()
      return AdmittedViewer(name: viewer.name, answer: answer)
    }

    private func reserve() throws(ViewerRefusal) {
      let hasRoom = room.withLock { room in
        guard !room.isClosed, room.viewers.count + room.reserved < options.maximumCount else {
          return false
        }
        room.reserved += 1
        return true
      }
      if !hasRoom { throw .full(options.maximumCount) }
    }

    public func add(_ fragment: CandidateFragment, to name: String) -> CandidateOutcome {
      let viewer = room.withLock { room in room.viewers.first { $0.name == name } }
      return viewer?.add(fragment) ?? .unknownViewer
    }

    public func remove(_ name: String) -> Bool { remove { $0.name == name } > 0 }

    /// - Returns: the number of removed viewers.
    private func remove(where isGone: (Viewer) -> Bool) -> Int {
      let gone = room.withLock { room in
        let gone = room.viewers.filter(isGone)
        room.viewers.removeAll { viewer in gone.contains { $0 === viewer } }
        if room.viewers.isEmpty, !gone.isEmpty { room.emptySinceNs = monotonicNowNs() }
        return gone
      }
      // Outside the lock, because their threads end now, and may be in a callback that takes it.
      for viewer in gone { viewer.close() }
      if !gone.isEmpty { touch() }
      return gone.count
    }

    private func touch() {
      changes.increment()
      changes.wakeAll()
    }

    // MARK: The audience

    /// Waits until there is a viewer, or until there has been none for a moment. Frees viewers that
    /// have left meanwhile.
    /// - Returns: false once the viewers are closed.
    public func wait(untilWatched isWatched: Bool) -> Bool {
      while true {
        let seen = changes.load()
        _ = remove { $0.isOver }
        let (isClosed, isReached) = room.withLock { room in
          (room.isClosed, isWatched ? !room.viewers.isEmpty : room.isDeserted(for: Self.lingerTime))
        }
        if isClosed { return false }
        if isReached { return true }
        // SAFETY: no shared word is watched; the private one lives in this object.
        unsafe sleepOnFutexes(
          shared: nil, expecting: 0, privates: (changes, seen),
          until: .after(Self.pollInterval))
      }
    }

    /// Removes all viewers, and admits no others.
    public func close() {
      room.withLock { $0.isClosed = true }
      _ = remove { _ in true }
      touch()
    }

    // MARK: Media

    private func requestKeyFrame() { keyFrameWanted.store(true, ordering: .releasing) }

    /// Whether a viewer has requested a key frame since the last call.
    func takeKeyFrameRequest() -> Bool {
      keyFrameWanted.exchange(false, ordering: .acquiringAndReleasing)
    }

    /// Sends a unit to all viewers that can use it. Never blocks.
    func send(_ unit: EncodedUnit, isSound: Bool) {
      for viewer in room.withLock({ $0.viewers }) where !viewer.send(unit, isSound: isSound) {
        requestKeyFrame()
      }
    }
  }

  extension ElementDescription {
    static let viewerTransport = ElementDescription(
      factory: "webrtcbin", package: "gstreamer1.0-plugins-bad")
  }
#endif
