#if Media
  import CGStreamer
  import CWebRTC
  import Platform
  import Sound
  import Synchronization
  import WHIP

  /// The engine of a WHIP upload: webrtcbin at the end of a pipeline.
  ///
  /// SAFETY: the handle lives from `init` to `deinit`, which first stops the pipeline;
  /// `WHIPConnection` uses it from one thread.
  @safe final class WebRTCPeer: WebRTCEngine, @unchecked Sendable {
    // because webrtcbin has its own lock, and the rest does not change

    /// The number of a relay's addresses to use.
    private static let maximumAddresses = 4
    /// The pace of a shared encoder's pictures on a link that carries less, as a part of its
    /// bitrate.
    private static let burstFactor = 1.2

    let events = WebRTCEvents()
    private let pipeline: Pipeline
    private let encoder: any LiveEncoder
    /// Set if the encoder is not in the pipeline.
    private let demand: EncoderDemand?
    private let certificates: String?
    private let handle: OpaquePointer
    private let reports = ReceiverReports()
    private let tunnels = Mutex<[TLSTunnel]>([])
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
      self.certificates = certificates
      // SAFETY: `events` and `reports` outlive the callbacks, which `deinit` ends.
      let made = unsafe webrtc_peer_create(
        pipeline.handle, handleWebRTCEvent, Unmanaged.passUnretained(events).toOpaque())
      guard let made = unsafe made else { throw .engineFailed("the pipeline has no webrtcbin") }
      unsafe handle = made
      unsafe webrtc_peer_watch_rtcp(
        handle, handleRTCP, handleSent, Unmanaged.passUnretained(reports).toOpaque())
    }

    deinit {
      // The threads that raise events end first.
      pipeline.stop()
      unsafe webrtc_peer_destroy(handle)
      for tunnel in tunnels.withLock({ $0 }) { tunnel.close() }
    }

    /// Adds a sound track. Call this before the pipeline plays.
    func addSound() throws(WHIPError) {
      try unsafe call { unsafe webrtc_peer_add_sound(handle, demand != nil, $0, $1) }
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
      var offer: String?
      try unsafe call { message, capacity in
        guard let text = unsafe webrtc_peer_make_offer(handle, message, capacity) else {
          return false
        }
        offer = unsafe String(cString: text)
        unsafe webrtc_text_free(text)
        return true
      }
      let named = SessionDescription.naming(
        fingerprint: unsafe String(cString: webrtc_peer_fingerprint(handle)), in: offer ?? "")
      return SessionDescription.namingLayers(
        in: SessionDescription.numberingPackets(in: named))
    }

    func add(
      _ server: ICEServer, until deadline: Deadline, stop: StopSignal
    ) throws(WHIPError) {
      do throws(HTTPError) {
        if server.kind == .turns {
          try add(tunnelled(server, until: deadline, stop: stop))
        } else {
          for address in try addresses(of: server, until: deadline, stop: stop) {
            try add(server.at(address: address))
          }
        }
      } catch {
        throw stop.isRaised ? .stopped : .unusableServer(server, error)
      }
    }

    /// The addresses to try. Names are resolved here because libnice 0.1.21 loses the port of a
    /// relay that has a name.
    private func addresses(
      of server: ICEServer, until deadline: Deadline, stop: StopSignal
    ) throws(HTTPError) -> ArraySlice<String> {
      let found: [String]?
      do throws(SystemError) {
        found = try Platform.addresses(ofHost: server.hostName, until: deadline, stop: stop)
      } catch {
        throw .broken(reason: "\(error)")
      }
      guard let found else { throw .timedOut }
      if found.isEmpty { throw .unresolvable }
      if server.kind == .turn { return found.prefix(Self.maximumAddresses) }
      // webrtcbin takes one STUN server; most machines behind a router have IPv4.
      return (found.filter { !$0.contains(":") } + found).prefix(1)
    }

    /// The relay behind a TLS tunnel. libnice 0.1.21 does not support TLS to relays: it would send
    /// the secrets over plain TCP.
    private func tunnelled(
      _ server: ICEServer, until deadline: Deadline, stop: StopSignal
    ) throws(HTTPError) -> ICEServer {
      if server.transport == "udp" { throw .noDatagramTLS }
      let tunnel = try TLSTunnel(
        to: server, certificates: certificates, until: deadline, stop: stop)
      tunnels.withLock { $0.append(tunnel) }
      return server.behind(tunnelAt: tunnel.port)
    }

    private func add(_ server: ICEServer) throws(HTTPError) {
      let isTaken =
        server.kind == .stun
        ? unsafe webrtc_peer_set_stun_server(handle, server.hostName, UInt32(server.port))
        : unsafe webrtc_peer_add_turn_server(handle, server.locator)
      if !isTaken { throw .broken(reason: "webrtcbin does not accept it") }
    }

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
  /// SAFETY: `context` is the `WebRTCEvents` that the peer keeps until the callbacks have ended;
  /// the text is valid during the call.
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
