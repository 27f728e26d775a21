#if Media
  import CWebRTC
  import Platform
  import Synchronization
  import WHIP

  /// One viewer: its connection, and the payloaders for it.
  final class Viewer: Sendable {
    static let maximumCandidates = 64
    /// Receivers report every few seconds.
    private static let silenceNs: UInt64 = 10_000_000_000

    let name: String
    let state: ViewerState
    private let offer: ViewerOffer
    private let connection: Mutex<Connection>

    /// SAFETY: the handle lives until `close` has taken it.
    @safe private struct Connection: @unchecked Sendable {
      // because it is used only under the lock that contains it
      var handle: OpaquePointer?
      /// Candidates of the offer and later ones.
      var candidateCount: Int
      /// A picture is missing, so those that follow cannot be decoded before a key frame.
      var waitsForKeyFrame = true
    }

    /// Accepts the offer, and begins to gather candidates.
    init(
      _ offer: ViewerOffer, at localAddress: String, encoder: any LiveEncoder, state: ViewerState
    ) throws(ViewerRefusal) {
      let handle = try unsafe Self.connect(offer, localAddress, encoder, state)
      self.offer = offer
      self.state = state
      if let size = offer.shownSize { state.note(size) }
      name = String(UInt64.random(in: 1 << 60...UInt64.max), radix: 36)
      connection = unsafe Mutex(Connection(handle: handle, candidateCount: offer.candidateCount))
    }

    deinit { close() }

    private static func connect(
      _ offer: ViewerOffer, _ localAddress: String, _ encoder: any LiveEncoder,
      _ state: ViewerState
    ) throws(ViewerRefusal) -> OpaquePointer {
      var message = ""
      var isOfferRefused = false
      let made = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) {
        buffer -> OpaquePointer? in
        var options = unsafe webrtc_viewer_options()
        unsafe options.handler = handleViewerEvent
        unsafe options.keyFrameHandler = handleViewerKeyFrame
        // SAFETY: the viewer keeps its state until the threads that use the state have ended.
        unsafe options.context = Unmanaged.passUnretained(state).toOpaque()
        unsafe buffer.initialize(repeating: 0)
        let made = unsafe withTracks(offer.tracks, encoder, in: &options) { options in
          // SAFETY: strings and buffer live during the call.
          unsafe offer.text.withCString { text in
            unsafe localAddress.withCString { address in
              unsafe options.offer = text
              unsafe options.localAddress = localAddress.isEmpty ? nil : address
              return unsafe webrtc_viewer_create(
                &options, &isOfferRefused, buffer.baseAddress, buffer.count)
            }
          }
        }
        if unsafe made == nil { message = unsafe String(cString: buffer.baseAddress!) }
        return unsafe made
      }
      guard let made = unsafe made else {
        throw isOfferRefused ? .malformed(message) : .engineFailed(message)
      }
      return unsafe made
    }

    // MARK: The connection

    /// Waits for the answer with all candidates. At the deadline, the answer has those known by
    /// then.
    func answer(until deadline: Deadline, _ changes: PrivateFutexWord) -> String? {
      while !state.isGathered, !deadline.isPast {
        let seen = changes.load()
        if state.isGathered { break }
        // SAFETY: no shared word is watched; the private one lives in an object held here.
        unsafe sleepOnFutexes(
          shared: nil, expecting: 0, privates: (changes, seen), until: deadline)
      }
      return connection.withLock { connection in
        guard let handle = unsafe connection.handle,
          let text = unsafe webrtc_viewer_answer(handle)
        else { return nil }
        defer { unsafe webrtc_text_free(text) }
        return SessionDescription.naming(
          fingerprint: unsafe String(cString: webrtc_viewer_fingerprint(handle)),
          in: unsafe String(cString: text))
      }
    }

    func add(_ fragment: CandidateFragment) -> CandidateOutcome {
      if let own = fragment.usernameFragment, own != offer.usernameFragment {
        return .otherSession
      }
      if let size = fragment.shownSize { state.note(size) }
      return connection.withLock { connection in
        guard let handle = unsafe connection.handle else { return .unknownViewer }
        connection.candidateCount += fragment.candidates.count
        if connection.candidateCount > Self.maximumCandidates { return .tooMany }
        for candidate in fragment.candidates {
          guard let index = offer.mids.firstIndex(of: candidate.mid) else { continue }
          unsafe webrtc_viewer_add_candidate(handle, UInt32(index), candidate.text)
        }
        return .taken
      }
    }

    /// Whether the viewer failed, did not connect in time, or does not report on media sent to it.
    var isOver: Bool {
      state.isOver
        || connection.withLock { connection in
          guard let handle = unsafe connection.handle else { return true }
          return unsafe webrtc_viewer_unanswered_ns(handle) > Self.silenceNs
        }
    }

    /// Ends the viewer's threads, and waits for them.
    func close() {
      // SAFETY: only the caller that takes the handle uses it afterwards.
      let taken = connection.withLock { connection in
        defer { unsafe connection.handle = nil }
        return connection
      }
      if let handle = unsafe taken.handle { unsafe webrtc_viewer_destroy(handle) }
    }

    // MARK: Media

    /// Sends a unit that the viewer can decode. Never blocks.
    /// - Returns: false if the viewer is too slow, and needs a key frame next.
    func send(_ unit: EncodedUnit, isSound: Bool) -> Bool {
      guard state.isConnected, let track = offer.tracks.firstIndex(where: { $0.isSound == isSound })
      else { return true }
      return connection.withLock { connection in
        guard let handle = unsafe connection.handle else { return true }
        if !isSound, connection.waitsForKeyFrame, !unit.isKeyFrame { return true }
        let isTaken = unsafe webrtc_viewer_push(handle, UInt32(track), unit.memory)
        if !isSound { connection.waitsForKeyFrame = !isTaken }
        return isTaken || isSound
      }
    }
  }

  /// Adds tracks to the options for the C side. Their strings are valid during the call.
  @unsafe private func withTracks<Result>(
    _ tracks: [ViewerOffer.Track], _ encoder: any LiveEncoder,
    in options: inout webrtc_viewer_options, _ body: (inout webrtc_viewer_options) -> Result
  ) -> Result {
    guard let track = tracks.first else { return unsafe body(&options) }
    let (packer, units) =
      track.isSound
      ? (ElementDescription.opusPacker, ElementDescription.opusCaps)
      : (encoder.packer, encoder.unitCaps)
    let packets =
      "application/x-rtp,media=\(track.isSound ? "audio" : "video"),"
      + "encoding-name=\(track.isSound ? "OPUS" : encoder.codec.rtpName),"
      + "clock-rate=\(track.isSound ? 48_000 : 90_000),payload=\(track.payload),"
      + "ssrc=(uint)\(UInt32.random(in: 1...UInt32.max))"
    // SAFETY: Swift imports a C array of 2 as a tuple of 2, and an offer has at most 2 tracks.
    return unsafe packer.launchText.withCString { packer in
      unsafe units.withCString { units in
        unsafe packets.withCString { packets in
          let description = unsafe webrtc_track(
            isSound: track.isSound, packer: packer, unitCaps: units, packetCaps: packets)
          if unsafe options.trackCount == 0 {
            unsafe options.tracks.0 = description
          } else {
            unsafe options.tracks.1 = description
          }
          unsafe options.trackCount += 1
          return unsafe withTracks(Array(tracks.dropFirst()), encoder, in: &options, body)
        }
      }
    }
  }

  extension ElementDescription {
    static let opusPacker = ElementDescription(
      factory: "rtpopuspay", package: "gstreamer1.0-plugins-good")
    static let opusCaps = "audio/x-opus,channel-mapping-family=0,channels=2,rate=48000"

    /// The element in the syntax of gst-launch(1).
    var launchText: String {
      ([factory] + properties.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
    }
  }
#endif
