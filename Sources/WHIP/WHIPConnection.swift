import Platform
import Synchronization

/// One attempt to send by WHIP, from the offer to the end of the session, on a thread of its own.
///
/// It brings together an engine, which knows media, and a session, which knows the endpoint. It
/// ends by itself when something fails, and by `end`; either way the endpoint is told.
public final class WHIPConnection: Sendable {
  /// Times of an attempt, for tests to shorten.
  public struct Patience: Sendable {
    /// For one request.
    public var request: Duration = .seconds(10)
    /// From the answer to the first packet.
    public var connecting: Duration = .seconds(20)
    /// The same once the endpoint has refused candidates, without which it may find a way.
    public var refused: Duration = .seconds(3)
    /// For a peer that is not heard of to come back.
    public var silence: Duration = .seconds(10)
    /// For the request that removes the session.
    public var removal: Duration = .seconds(3)

    public init() {}
  }

  public enum State: Hashable, Sendable {
    case connecting
    case connected
    case ended(WHIPError)
  }

  /// What became of it, and of its media, in the order in which it happens.
  public enum Event: Hashable, Sendable {
    case offered(WebAddress)
    /// The endpoint takes the other medium alone.
    case refused(MediaKind)
    /// The ICE servers that the endpoint recommends.
    case recommended([ICEServer])
    /// An ICE server is done without.
    case notUsed(WHIPError)
    case connected
    case bitrate(Int)
    /// The endpoint took no further candidates; the media flow all the same.
    case candidatesRefused(WHIPError)
    /// The endpoint was not told of the end.
    case notRemoved(WHIPError)
    case ended(WHIPError)
  }

  private static let reportInterval = Duration.seconds(1)

  private let engine: any WebRTCEngine
  private let endpoint: WHIPEndpoint
  private let client: any HTTPClient
  private let servers: [ICEServer]
  private let patience: Patience
  private let onEvent: @Sendable (Event) -> Void
  private let control: Mutex<BitrateControl>
  private let stop: StopSignal
  private let finished: StopSignal
  private let current = Mutex(State.connecting)
  private let wasConnected = Mutex(false)
  private let refused = Mutex<[MediaKind]>([])

  /// - Parameters:
  ///   - servers: to be used beside those that the endpoint recommends.
  ///   - onEvent: called on this object's thread.
  public init(
    _ engine: any WebRTCEngine, to endpoint: WHIPEndpoint, client: any HTTPClient,
    servers: [ICEServer], bitrate: BitrateControl, patience: Patience = Patience(),
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    self.engine = engine
    self.endpoint = endpoint
    self.client = client
    self.servers = servers
    self.patience = patience
    self.onEvent = onEvent
    control = Mutex(bitrate)
    stop = try StopSignal()
    finished = try StopSignal()
    try startThread(named: "whip") { [self] in run() }
  }

  public var state: State { current.withLock { $0 } }

  /// Whether it ever was connected, however it ended.
  public var hasConnected: Bool { wasConnected.withLock { $0 } }

  /// Whether the endpoint, as far as it has answered, takes media of that kind: no other may be
  /// sent (RFC 3264, section 6).
  public func takes(_ kind: MediaKind) -> Bool { !refused.withLock { $0.contains(kind) } }

  /// Ends it, and waits until the endpoint was told: for a few seconds at most.
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
      try attend(session)
    } catch {
      reason = error
    }
    remove(session)
    current.withLock { $0 = .ended(reason) }
    onEvent(.ended(reason))
    finished.raise()
  }

  /// Tells the endpoint, which may be busy for a moment, of the end.
  private func remove(_ session: WHIPSession) {
    let deadline = Deadline.after(patience.removal)
    var pause = BackOff(first: .milliseconds(200))
    while true {
      do throws(WHIPError) {
        return try session.remove(until: deadline)
      } catch {
        let next = Deadline.after(pause.next())
        guard error.isBusy, next < deadline else { return onEvent(.notRemoved(error)) }
        sleep(until: next)
      }
    }
  }

  private func open(_ session: WHIPSession) throws(WHIPError) {
    try waitUntilReady()
    let offer = try engine.makeOffer()
    let answer = try session.open(
      offering: offer, until: .after(patience.request), stop: stop)
    onEvent(.offered(endpoint.address))
    refused.withLock { $0 = answer.refused }
    for kind in answer.refused { onEvent(.refused(kind)) }
    if !answer.servers.isEmpty { onEvent(.recommended(answer.servers)) }
    // Candidates are gathered only now, so that they include what these servers can see.
    let servers = servers + answer.servers
    // All of them have one time: an endpoint may recommend many that never answer.
    let deadline = Deadline.after(patience.request)
    for server in servers { try add(server, until: deadline) }
    // An engine looks at the machine's addresses in the network alone.
    if endpoint.address.isLoopback, servers.allSatisfy(\.isLoopback) {
      try engine.useOnly(localAddress: "127.0.0.1")
    }
    try engine.use(offer: offer)
    do throws(WHIPError) {
      try engine.use(answer: answer.sdp)
    } catch {
      guard case .engineFailed(let reason) = error else { throw error }
      throw .unusableAnswer(endpoint.address, reason: reason)
    }
  }

  /// One that cannot be used is done without.
  private func add(_ server: ICEServer, until deadline: Deadline) throws(WHIPError) {
    do throws(WHIPError) {
      try engine.add(server, until: deadline, stop: stop)
    } catch {
      guard case .unusableServer = error, !stop.isRaised else { throw error }
      onEvent(.notUsed(error))
    }
  }

  private func waitUntilReady() throws(WHIPError) {
    let deadline = Deadline.after(patience.connecting)
    while true {
      let events = engine.events.next(until: deadline, stop: stop)
      if stop.isRaised { throw .stopped }
      if events.contains(.failed) || deadline.isPast {
        throw .engineFailed("it never became ready to make an offer")
      }
      if events.contains(.ready) { return }
    }
  }

  /// Sends candidates as they come, and watches over the media until it is lost or stopped.
  private func attend(_ session: WHIPSession) throws(WHIPError) {
    var giveUp = Deadline.after(patience.connecting)
    var nextReport = Deadline.after(Self.reportInterval)
    var refusal: WHIPError?
    while true {
      let events = engine.events.next(until: min(giveUp, nextReport), stop: stop)
      if stop.isRaised { throw .stopped }
      for event in events {
        switch event {
        case .ready: break
        case .candidate(let candidate): session.add(candidate)
        case .gathered: session.endCandidates()
        case .connected:
          giveUp = .after(patience.silence)
          current.withLock { $0 = .connected }
          wasConnected.withLock { $0 = true }
          onEvent(.connected)
        case .disconnected: giveUp = .after(patience.silence)
        case .failed:
          throw isConnected
            ? .connectionLost(endpoint.address) : refusal ?? .connectionFailed(endpoint.address)
        case .impostor: throw .wrongCertificate(endpoint.address)
        }
      }
      if let error = sendCandidates(of: session), !stop.isRaised {
        // The way may have been found without them.
        refusal = error
        if isConnected {
          onEvent(.candidatesRefused(error))
        } else {
          giveUp = min(giveUp, .after(patience.refused))
        }
      }
      if nextReport.isPast {
        nextReport = .after(Self.reportInterval)
        // webrtcbin notices no peer that is gone without a word: the reports end, no more.
        if isConnected, let report = engine.report() {
          giveUp = .after(patience.silence)
          adapt(to: report)
        }
      }
      // After the report, which may have come while a request took its time.
      if giveUp.isPast {
        throw isConnected ? .connectionLost(endpoint.address) : refusal ?? noConnection
      }
    }
  }

  private func sendCandidates(of session: WHIPSession) -> WHIPError? {
    do throws(WHIPError) {
      try session.sendCandidates(until: .after(patience.request), stop: stop)
      return nil
    } catch {
      return error
    }
  }

  private var isConnected: Bool { state == .connected }

  private var noConnection: WHIPError {
    .noConnection(endpoint.address, seconds: patience.connecting.components.seconds)
  }

  private func adapt(to report: WebRTCReport) {
    guard let lostShare = report.lostShare else { return }
    let changed = control.withLock { control in
      control.adapt(lostShare: lostShare) ? control.bitsPerSecond : nil
    }
    guard let changed else { return }
    engine.set(bitsPerSecond: changed)
    onEvent(.bitrate(changed))
  }
}
