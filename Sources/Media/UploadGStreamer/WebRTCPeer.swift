#if Media
  import CGStreamer
  import CWebRTC
  import Platform
  import Sound
  import Synchronization
  import WHIP
  import WebRTC

  /// The engine of a WHIP upload: webrtcbin at the end of a pipeline.
  ///
  /// SAFETY: the handle is the peer's, which lives as long as this object; `WHIPConnection` uses it
  /// from one thread.
  @safe final class WebRTCPeer: PeerEngine, @unchecked Sendable {
    // because webrtcbin has its own lock, and the rest does not change

    /// The pace of a shared encoder's pictures on a link that carries less, as a part of its
    /// bitrate.
    private static let burstFactor = 1.2

    let peer: PeerHandle
    private let pipeline: Pipeline
    private let encoder: any LiveEncoder
    /// Set if the encoder is not in the pipeline.
    private let demand: EncoderDemand?
    private let reports = ReceiverReports()
    /// What was retransmitted before the last report.
    private let repeated = Mutex<(bytes: UInt64, packets: UInt64)>((0, 0))

    /// - Parameters:
    ///   - pipeline: ends in webrtcbin, and does not play yet.
    ///   - demand: if the encoder is not in the pipeline.
    ///   - certificates: a file of certificates to trust for relays instead of the system's.
    init(
      _ pipeline: Pipeline, encoder: any LiveEncoder, demand: EncoderDemand? = nil,
      certificates: String?
    ) throws(WHIPError) {
      self.pipeline = pipeline
      self.encoder = encoder
      self.demand = demand
      let peer = unsafe PeerHandle(certificates: certificates) {
        unsafe webrtc_peer_create(pipeline.handle, $0, $1)
      }
      guard let peer else { throw .engineFailed("the pipeline has no webrtcbin") }
      self.peer = peer
      // SAFETY: `reports` outlives the callbacks, which `deinit` ends.
      unsafe webrtc_peer_watch_rtcp(
        handle, handleRTCP, handleSent, Unmanaged.passUnretained(reports).toOpaque())
    }

    // The threads that raise events end before the peer does.
    deinit { pipeline.stop() }

    private var handle: OpaquePointer { unsafe peer.handle }

    /// Adds a sound track. Call this before the pipeline plays.
    func addSound() throws(WHIPError) {
      try unsafe peer.call { unsafe webrtc_peer_add_sound(handle, demand != nil, $0, $1) }
    }

    /// Sends the next chunk of the sound track. Any one thread may call it. Never blocks.
    func push(_ sound: SoundChunk, ptsNs: UInt64) {
      // SAFETY: the samples are copied during the call.
      unsafe sound.samples.withUnsafeBufferPointer { samples in
        unsafe webrtc_peer_push_sound(
          handle, samples.baseAddress, samples.count, ptsNs, SoundChunk.durationNs)
      }
    }

    /// As above, for a packet of Opus.
    func push(_ sound: KeptUnit, ptsNs: UInt64) {
      // SAFETY: webrtcbin keeps a reference of its own to the packet.
      _ = unsafe webrtc_peer_push_encoded(handle, sound.sample, ptsNs)
    }

    func makeOffer() throws(WHIPError) -> String {
      SessionDescription.namingLayers(
        in: SessionDescription.numberingPackets(in: try peer.makeOffer()))
    }

    func use(answer: String) throws(WHIPError) {
      try peer.use(answer: answer)
      if let number = SessionDescription(answer).packetNumberExtension {
        unsafe webrtc_peer_number_packets(handle, number)
      }
    }

    func report() -> WebRTCReport? {
      guard var report = reports.take() else { return nil }
      let delayNs = unsafe webrtc_peer_take_request_delay(handle)
      report.requestDelayNs = delayNs > 0 ? delayNs : nil
      let bytes = unsafe webrtc_peer_repeated_bytes(handle)
      let packets = unsafe webrtc_peer_repeated_count(handle)
      repeated.withLock { before in
        report.repeatedBytes = Int(bytes - before.bytes)
        report.repeatedPackets = Int(packets - before.packets)
        before = (bytes, packets)
      }
      return report
    }

    func set(bitsPerSecond: Int, pace: Int?) {
      if let demand {
        // Its units come in bursts (`UnitBudget`), which would fill the queue of a slow link.
        let isSlow = bitsPerSecond < demand.wantedBitsPerSecond / SharedDestination.leastShare
        let most = isSlow ? Int(Double(bitsPerSecond) * Self.burstFactor) : .max
        unsafe webrtc_peer_set_pace(handle, UInt64(min(pace ?? 0, most)))
        return demand.mostBitsPerSecond = bitsPerSecond
      }
      unsafe webrtc_peer_set_pace(handle, UInt64(pace ?? 0))
      let property = encoder.bitrate(bitsPerSecond)
      pipeline.set(property, of: encoder.factory)
    }

    func set(soundBitsPerSecond: Int) {
      if demand != nil { return }
      pipeline.set(.init("bitrate", String(soundBitsPerSecond)), of: "opusenc")
    }

    func pause(untilNs: UInt64, restarts: Bool) {
      unsafe webrtc_peer_pause(handle, untilNs, restarts)
    }

    func set(repeatsTwice: Bool) { unsafe webrtc_peer_repeat_twice(handle, repeatsTwice) }
  }

  /// Called by CWebRTC on a thread of webrtcbin.
  /// SAFETY: `context` is the `ReceiverReports` that the peer keeps until the callbacks have ended;
  /// the bytes are valid during the call.
  private func handleRTCP(
    _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int
  ) {
    guard let context = unsafe context, let bytes = unsafe bytes else { return }
    let reports = unsafe Unmanaged<ReceiverReports>.fromOpaque(context).takeUnretainedValue()
    reports.receive(unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
  }

  /// Called by CWebRTC on a thread of webrtcbin.
  /// SAFETY: as above.
  private func handleSent(_ context: UnsafeMutableRawPointer?, _ number: UInt16, _ count: Int) {
    guard let context = unsafe context else { return }
    let reports = unsafe Unmanaged<ReceiverReports>.fromOpaque(context).takeUnretainedValue()
    reports.noteSent(number, byteCount: count)
  }
#endif
