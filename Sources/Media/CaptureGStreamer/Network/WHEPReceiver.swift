#if Media
  import CGStreamer
  import CWebRTC
  import Platform
  import Synchronization
  import WHIP

  /// The engine of a capture by WHEP: webrtcbin at the start of a pipeline.
  ///
  /// SAFETY: the handle lives from `init` to `deinit`, which first stops the pipeline;
  /// `WHEPConnection` uses it from one thread.
  @safe final class WHEPReceiver: WebRTCEngine, @unchecked Sendable {
    // because webrtcbin has its own lock, and the rest does not change

    let events = WebRTCEvents()
    private let pipeline: CapturePipeline
    private let handle: OpaquePointer

    /// - Parameter pipeline: begins with a webrtcbin called `source`, and does not play yet.
    init(_ pipeline: CapturePipeline, hasSound: Bool) throws(PipelineError) {
      self.pipeline = pipeline
      // SAFETY: `events` outlives the callbacks, which `deinit` ends.
      let made = unsafe webrtc_peer_receive(
        pipeline.element, "source", hasSound, handleWebRTCEvent,
        Unmanaged.passUnretained(events).toOpaque())
      guard let made = unsafe made else { throw .missingElement("webrtcbin") }
      unsafe handle = made
    }

    deinit {
      // The threads that raise events end first.
      pipeline.stop()
      unsafe webrtc_peer_destroy(handle)
    }

    func makeOffer() throws(WHIPError) -> String {
      var offer = ""
      try unsafe call { message, capacity in
        guard let text = unsafe webrtc_peer_make_offer(handle, message, capacity) else {
          return false
        }
        offer = unsafe String(cString: text)
        unsafe webrtc_text_free(text)
        return true
      }
      return SessionDescription.naming(
        fingerprint: unsafe String(cString: webrtc_peer_fingerprint(handle)), in: offer)
    }

    /// An endpoint is reached by its own candidates: no server of its choice is asked.
    func add(_ server: ICEServer, until deadline: Deadline, stop: StopSignal) throws(WHIPError) {}

    func useAllAddresses() throws(WHIPError) {
      guard unsafe webrtc_peer_add_all_addresses(handle) > 0 else {
        throw .engineFailed("it accepts no address of this machine")
      }
    }

    func use(offer: String) throws(WHIPError) {
      try unsafe call { unsafe webrtc_peer_set_offer(handle, offer, $0, $1) }
    }

    func use(answer: String) throws(WHIPError) {
      try unsafe call { unsafe webrtc_peer_set_answer(handle, answer, $0, $1) }
    }

    /// It sends nothing that could adapt.
    func report() -> WebRTCReport? { nil }
    func set(bitsPerSecond: Int, pace: Int?) {}

    /// Makes a C call that writes a message when it fails.
    @unsafe private func call(
      _ body: (UnsafeMutablePointer<CChar>, Int) -> Bool
    ) throws(WHIPError) {
      let message = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) {
        buffer -> String? in
        // SAFETY: the call gets the buffer's length; on failure the buffer holds a C string.
        guard let start = buffer.baseAddress else { return nil }
        unsafe start[0] = 0
        return unsafe body(start, buffer.count) ? nil : unsafe String(cString: start)
      }
      if let message { throw .engineFailed(message) }
    }
  }

  /// Called by CWebRTC on a thread of webrtcbin.
  /// SAFETY: `context` is the `WebRTCEvents` that the receiver keeps until the callbacks have
  /// ended; the text is valid during the call.
  private func handleWebRTCEvent(
    _ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<webrtc_event>?
  ) {
    guard let context = unsafe context, let event = unsafe event?.pointee else { return }
    let events = unsafe Unmanaged<WebRTCEvents>.fromOpaque(context).takeUnretainedValue()
    switch unsafe event.kind {
    case WEBRTC_READY: events.append(.ready)
    case WEBRTC_CANDIDATE:
      let candidate = ICECandidate(
        mediaIndex: Int(unsafe event.mediaIndex), text: unsafe String(cString: event.text))
      events.append(.candidate(candidate))
    case WEBRTC_GATHERED: events.append(.gathered)
    case WEBRTC_CONNECTED: events.append(.connected)
    case WEBRTC_DISCONNECTED: events.append(.disconnected)
    case WEBRTC_CLOSED: events.append(.closed)
    case WEBRTC_IMPOSTOR: events.append(.impostor)
    default: events.append(.failed)
    }
  }
#endif
