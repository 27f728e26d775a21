#if Media
  import CGStreamer
  import CWebRTC
  import WHIP
  import WebRTC

  /// The engine of a capture by WHEP: webrtcbin at the start of a pipeline.
  final class WHEPReceiver: PeerEngine {
    let peer: PeerHandle
    private let pipeline: CapturePipeline

    /// - Parameters:
    ///   - pipeline: begins with a webrtcbin called `source`, and does not play yet.
    ///   - certificates: a file of certificates to trust for relays instead of the system's.
    init(
      _ pipeline: CapturePipeline, hasSound: Bool, certificates: String?
    ) throws(PipelineError) {
      self.pipeline = pipeline
      // SAFETY: `deinit` stops the pipeline, whose threads use the peer, before the peer ends.
      let peer = unsafe PeerHandle(certificates: certificates) {
        unsafe webrtc_peer_receive(pipeline.element, "source", hasSound, $0, $1)
      }
      guard let peer else { throw .missingElement("webrtcbin") }
      self.peer = peer
    }

    // The threads that raise events end before the peer does.
    deinit { pipeline.stop() }

    /// It sends nothing that could adapt.
    func report() -> WebRTCReport? { nil }
    func set(bitsPerSecond: Int, pace: Int?) {}
  }
#endif
