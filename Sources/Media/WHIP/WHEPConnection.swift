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
  private let onEvent: @Sendable (WHIPConnection.Event) -> Void
  private let stop: StopSignal
  private let finished: StopSignal

  /// - Parameter onEvent: called on this connection's thread; with `.ended` once, before the
  ///   session is removed.
  public init(
    _ engine: any WebRTCEngine, to endpoint: WHIPEndpoint, client: any HTTPClient,
    timeouts: WHIPConnection.Timeouts = WHIPConnection.Timeouts(),
    onEvent: @escaping @Sendable (WHIPConnection.Event) -> Void
  ) throws(SystemError) {
    self.engine = engine
    self.endpoint = endpoint
    self.client = client
    self.timeouts = timeouts
    self.onEvent = onEvent
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
    let negotiation = Negotiation(
      engine, to: endpoint, client: client, timeouts: timeouts, stop: stop, report: onEvent)
    var reason = WHIPError.stopped
    do throws(WHIPError) {
      try negotiation.waitUntilReady()
      let offer = try engine.makeOffer()
      let answer = try negotiation.session.view(
        offering: offer, until: .after(timeouts.request), stop: stop)
      try follow(negotiation, trying: negotiation.apply(answer, to: offer, servers: []))
    } catch { reason = error }
    onEvent(.ended(reason))
    negotiation.remove()
    finished.raise()
  }

  /// Sends candidates as they arrive, until the connection is lost or stopped.
  private func follow(
    _ negotiation: Negotiation, trying paths: TriedPaths
  ) throws(WHIPError) {
    var deadline = Deadline.after(timeouts.connecting)
    var tried = paths
    var isConnected = false
    while true {
      let events = engine.events.next(until: deadline, stop: stop)
      if stop.isRaised { throw .stopped }
      for event in events {
        switch event {
        case .ready: break
        case .candidate(let candidate):
          negotiation.session.add(candidate)
          tried.add(candidate)
        case .gathered: negotiation.session.endCandidates()
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
      try? negotiation.sendCandidates()
      if deadline.isPast {
        throw isConnected
          ? .connectionLost(endpoint.address)
          : .noConnection(endpoint.address, seconds: timeouts.connecting.components.seconds, tried)
      }
    }
  }
}
