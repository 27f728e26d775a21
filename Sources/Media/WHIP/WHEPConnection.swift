import Platform
import Synchronization

/// One attempt to watch by WHEP (draft-ietf-wish-whep), from the offer to the end of the session,
/// on its own thread.
///
/// It connects an engine, which receives media, to a session at the endpoint. It ends when
/// something fails or `end` is called; either way it removes the session at the endpoint. Whether
/// media arrive is for the engine's owner to see.
public final class WHEPConnection: Sendable {
  private let engine: any WebRTCEngine
  private let endpoint: WHIPEndpoint
  private let client: any HTTPClient
  private let timeouts: WHIPConnection.Timeouts
  private let onEnd: @Sendable (WHIPError) -> Void
  private let stop: StopSignal
  private let finished: StopSignal

  /// - Parameter onEnd: called once on this connection's thread, before the session is removed.
  public init(
    _ engine: any WebRTCEngine, to endpoint: WHIPEndpoint, client: any HTTPClient,
    timeouts: WHIPConnection.Timeouts = WHIPConnection.Timeouts(),
    onEnd: @escaping @Sendable (WHIPError) -> Void
  ) throws(SystemError) {
    self.engine = engine
    self.endpoint = endpoint
    self.client = client
    self.timeouts = timeouts
    self.onEnd = onEnd
    stop = try StopSignal()
    finished = try StopSignal()
    try startThread(named: "whep") { [self] in run() }
  }

  /// Ends the attempt. Blocks for a few seconds at most, until the session is removed.
  public func end() {
    stop.raise()
    _ = try? waitUntilReadable([finished.descriptorNumber], until: .never)
  }

  // MARK: On its own thread

  private func run() {
    let session = WHIPSession(endpoint, client: client)
    var reason = WHIPError.stopped
    do throws(WHIPError) {
      try open(session)
      try follow(session)
    } catch { reason = error }
    onEnd(reason)
    // A session that cannot be removed ends when its media have no receiver.
    try? session.remove(until: .after(timeouts.removal))
    finished.raise()
  }

  private func open(_ session: WHIPSession) throws(WHIPError) {
    let deadline = Deadline.after(timeouts.connecting)
    while true {
      let events = engine.events.next(until: deadline, stop: stop)
      if stop.isRaised { throw .stopped }
      if events.contains(.failed) || deadline.isPast {
        throw .engineFailed("it did not become ready to make an offer")
      }
      if events.contains(.ready) { break }
    }
    let offer = try engine.makeOffer()
    let answer = try session.view(offering: offer, until: .after(timeouts.request), stop: stop)
    // The server may have an address of this machine other than the one of its signalling.
    if endpoint.address.isLoopback { try engine.useAllAddresses() }
    try engine.use(offer: offer)
    do throws(WHIPError) {
      try engine.use(answer: answer)
    } catch {
      guard case .engineFailed(let reason) = error else { throw error }
      throw .unusableAnswer(endpoint.address, reason: reason)
    }
  }

  /// Sends candidates as they arrive, until the connection is lost or stopped.
  private func follow(_ session: WHIPSession) throws(WHIPError) {
    var deadline = Deadline.after(timeouts.connecting)
    var tried = TriedPaths()
    var isConnected = false
    while true {
      let events = engine.events.next(until: deadline, stop: stop)
      if stop.isRaised { throw .stopped }
      for event in events {
        switch event {
        case .ready: break
        case .candidate(let candidate):
          session.add(candidate)
          tried.add(candidate)
        case .gathered: session.endCandidates()
        case .connected:
          isConnected = true
          deadline = .never
        case .disconnected: if isConnected { deadline = .after(timeouts.silence) }
        case .failed:
          throw isConnected
            ? .connectionLost(endpoint.address) : .connectionFailed(endpoint.address, tried)
        case .closed: throw .connectionClosed(endpoint.address)
        case .impostor: throw .wrongCertificate(endpoint.address)
        }
      }
      // The connection may be possible without them.
      try? session.sendCandidates(until: .after(timeouts.request), stop: stop)
      if deadline.isPast {
        throw isConnected
          ? .connectionLost(endpoint.address)
          : .noConnection(endpoint.address, seconds: timeouts.connecting.components.seconds, tried)
      }
    }
  }
}
