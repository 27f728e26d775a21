#if Media
  // The module WebRTC: a webrtcbin of a pipeline as the engine of WHIP's sessions, of both senders
  // and receivers: offer and answer, events, and the servers that help to connect.
  //
  // It refuses to know the pipeline, its media, and the endpoint.

  import CWebRTC
  import Platform
  import Synchronization
  import WHIP

  /// A webrtcbin as CWebRTC handles it. Destroy or stop its pipeline first, because the pipeline's
  /// threads raise the events.
  ///
  /// SAFETY: the handle lives from `init` to `deinit`; one thread at a time uses it.
  @safe package final class PeerHandle: @unchecked Sendable {
    // because webrtcbin has its own lock, and the rest does not change

    /// The number of a relay's addresses to use.
    private static let maximumAddresses = 4

    package let events = WebRTCEvents()
    package let handle: OpaquePointer
    private let certificates: String?
    private let tunnels = Mutex<[TLSTunnel]>([])

    /// - Parameters:
    ///   - certificates: a file of certificates to trust for relays instead of the system's.
    ///   - make: makes the peer, with this handler of its events.
    /// - Returns: nil if `make` does.
    package init?(
      certificates: String?,
      _ make: (webrtc_event_handler, UnsafeMutableRawPointer) -> OpaquePointer?
    ) {
      self.certificates = certificates
      // SAFETY: `events` outlives the callbacks, which end with the pipeline.
      let made = unsafe make(handleWebRTCEvent, Unmanaged.passUnretained(events).toOpaque())
      guard let made = unsafe made else { return nil }
      unsafe handle = made
    }

    deinit {
      unsafe webrtc_peer_destroy(handle)
      for tunnel in tunnels.withLock({ $0 }) { tunnel.close() }
    }

    /// The offer, with this connection's certificate.
    package func makeOffer() throws(WHIPError) -> String {
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

    package func use(offer: String) throws(WHIPError) {
      try unsafe call { unsafe webrtc_peer_set_offer(handle, offer, $0, $1) }
    }

    package func use(answer: String) throws(WHIPError) {
      try unsafe call { unsafe webrtc_peer_set_answer(handle, answer, $0, $1) }
    }

    package func useAllAddresses() throws(WHIPError) {
      guard unsafe webrtc_peer_add_all_addresses(handle) > 0 else {
        throw .engineFailed("it accepts no address of this machine")
      }
    }

    // MARK: Servers

    package func add(
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

    // MARK: Calls

    /// Makes a C call that writes a message when it fails.
    @unsafe package func call(
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
  /// SAFETY: `context` is the `WebRTCEvents` that the handle keeps until the callbacks have ended;
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
#endif
