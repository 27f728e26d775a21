import Platform

/// The steps that a sender and a receiver take alike: waiting for the engine, the servers that help
/// to connect, offer and answer, candidates, and the end of the session. Confined to one thread.
struct Negotiation {
  let engine: any WebRTCEngine
  let endpoint: WHIPEndpoint
  let session: WHIPSession
  let timeouts: WHIPConnection.Timeouts
  let stop: StopSignal
  /// Called with the servers that are recommended, and with those that cannot be used.
  let report: (WHIPConnection.Event) -> Void

  init(
    _ engine: any WebRTCEngine, to endpoint: WHIPEndpoint, client: any HTTPClient,
    timeouts: WHIPConnection.Timeouts, stop: StopSignal,
    report: @escaping (WHIPConnection.Event) -> Void
  ) {
    self.engine = engine
    self.endpoint = endpoint
    session = WHIPSession(endpoint, client: client)
    self.timeouts = timeouts
    self.stop = stop
    self.report = report
  }

  func waitUntilReady() throws(WHIPError) {
    let deadline = Deadline.after(timeouts.connecting)
    while true {
      let events = engine.events.next(until: deadline, stop: stop)
      if stop.isRaised { throw .stopped }
      if events.contains(.failed) || deadline.isPast {
        throw .engineFailed("it did not become ready to make an offer")
      }
      if events.contains(.ready) { return }
    }
  }

  /// Gives the engine the offer and its answer, and the servers that help to connect.
  /// - Parameter servers: those of the user; the answer names others.
  /// - Returns: the endpoint's addresses and the relays.
  func apply(
    _ answer: WHIPAnswer, to offer: String, servers: [ICEServer]
  ) throws(WHIPError) -> TriedPaths {
    if !answer.servers.isEmpty { report(.recommended(answer.servers)) }
    // One deadline for all of them, because an endpoint may recommend many that never answer.
    let deadline = Deadline.after(timeouts.request)
    var tried = TriedPaths()
    tried.takeRemote(of: answer.sdp)
    // Candidates are gathered only afterwards, so that they include those from these servers.
    for server in servers + answer.servers {
      if try add(server, until: deadline) { tried.add(server) }
    }
    // The server may have an address of this machine other than the one of its signalling: some use
    // loopback addresses only, some never.
    if endpoint.address.isLoopback { try engine.useAllAddresses() }
    try engine.use(offer: offer)
    do throws(WHIPError) {
      try engine.use(answer: answer.sdp)
    } catch {
      guard case .engineFailed(let reason) = error else { throw error }
      throw .unusableAnswer(endpoint.address, reason: endpoint.shown(reason))
    }
    return tried
  }

  /// Adds a server, or reports and skips one that cannot be used.
  /// - Returns: whether it is used.
  private func add(_ server: ICEServer, until deadline: Deadline) throws(WHIPError) -> Bool {
    do throws(WHIPError) {
      try engine.add(server, until: deadline, stop: stop)
      return true
    } catch {
      guard case .unusableServer = error, !stop.isRaised else { throw error }
      report(.notUsed(error))
      return false
    }
  }

  /// Sends the candidates that the engine has found.
  func sendCandidates() throws(WHIPError) {
    try session.sendCandidates(until: .after(timeouts.request), stop: stop)
  }

  /// Removes the session, and retries while the endpoint is busy.
  func remove() {
    let deadline = Deadline.after(timeouts.removal)
    var pause = BackOff(first: .milliseconds(200))
    while true {
      do throws(WHIPError) {
        return try session.remove(until: deadline)
      } catch {
        let next = Deadline.after(max(pause.next(), error.retryAfter ?? .zero))
        guard error.isBusy, next < deadline else { return report(.notRemoved(error)) }
        sleep(until: next)
      }
    }
  }
}
