import Platform
import Synchronization

/// One attempt to send by WHIP, from the offer to the end of the session, on its own thread.
///
/// It connects an engine, which handles media, to a session, which handles the endpoint. It ends
/// when something fails or `end` is called; either way it removes the session at the endpoint.
public final class WHIPConnection: Sendable {
  /// The timeouts of an attempt. Tests shorten them.
  public struct Timeouts: Sendable {
    /// Of one request.
    public var request: Duration = .seconds(10)
    /// From the answer to the first packet.
    public var connecting: Duration = .seconds(20)
    /// From a refusal of candidates, or an answer without any, to the first packet: the endpoint
    /// may still connect.
    public var refused: Duration = .seconds(3)
    /// From the last report or connection change of the peer until the connection counts as lost;
    /// at least twice the peer's own interval between reports.
    public var silence: Duration = .seconds(10)
    /// The same until that interval is known, and the most for which it counts.
    public var usualSilence: Duration = .seconds(10)
    /// Of the request that removes the session.
    public var removal: Duration = .seconds(3)

    public init() {}
  }

  public enum State: Hashable, Sendable {
    case connecting
    case connected
    case ended(WHIPError)
  }

  /// Events of the attempt, in the order in which they happen.
  public enum Event: Hashable, Sendable {
    case offered(WebAddress)
    /// The endpoint accepts only the other kind of media.
    case refused(MediaKind)
    /// The ICE servers that the endpoint recommends.
    case recommended([ICEServer])
    /// An ICE server cannot be used and is skipped.
    case notUsed(WHIPError)
    case connected
    case bitrate(Int)
    /// The endpoint refused further candidates; media are sent nevertheless.
    case candidatesRefused(WHIPError)
    /// The session could not be removed at the endpoint.
    case notRemoved(WHIPError)
    case ended(WHIPError)
  }

  /// Between two polls for reports. Queues on the way grow within tenths of a second.
  private static let reportInterval = Duration.milliseconds(50)

  private let engine: any WebRTCEngine
  private let endpoint: WHIPEndpoint
  private let client: any HTTPClient
  private let servers: [ICEServer]
  private let timeouts: Timeouts
  private let onEvent: @Sendable (Event) -> Void
  private let control: Mutex<BitrateControl>
  private let stop: StopSignal
  private let finished: StopSignal
  private let current = Mutex(State.connecting)
  private let wasConnected = Mutex(false)
  private let refused = Mutex<[MediaKind]>([])

  /// - Parameters:
  ///   - servers: ICE servers to use in addition to those that the endpoint recommends.
  ///   - onEvent: called on this connection's thread.
  public init(
    _ engine: any WebRTCEngine, to endpoint: WHIPEndpoint, client: any HTTPClient,
    servers: [ICEServer], bitrate: BitrateControl, timeouts: Timeouts = Timeouts(),
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    self.engine = engine
    self.endpoint = endpoint
    self.client = client
    self.servers = servers
    self.timeouts = timeouts
    self.onEvent = onEvent
    control = Mutex(bitrate)
    stop = try StopSignal()
    finished = try StopSignal()
    try startThread(named: "whip") { [self] in run() }
  }

  public var state: State { current.withLock { $0 } }

  /// Whether it was ever connected, even if it has ended.
  public var hasConnected: Bool { wasConnected.withLock { $0 } }

  /// Whether the endpoint accepts media of this kind; true until it has answered. Refused media
  /// may not be sent (RFC 3264, section 6).
  public func takes(_ kind: MediaKind) -> Bool { !refused.withLock { $0.contains(kind) } }

  /// The bitrate, and the reports that it follows.
  public var bitrate: BitrateControl { control.withLock { $0 } }

  /// Changes the requested bitrate, at once.
  public func limit(bitsPerSecond: Int) {
    control.withLock { control in
      control.limit(to: bitsPerSecond)
      set(control)
    }
  }

  /// Ends the attempt. Blocks for a few seconds at most, until the session is removed at the
  /// endpoint.
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
      try sendMedia(negotiation, trying: open(negotiation))
    } catch {
      reason = error
    }
    negotiation.remove()
    current.withLock { $0 = .ended(reason) }
    onEvent(.ended(reason))
    finished.raise()
  }

  /// - Returns: the endpoint's addresses and the relays.
  private func open(_ negotiation: Negotiation) throws(WHIPError) -> TriedPaths {
    try negotiation.waitUntilReady()
    let offer = try engine.makeOffer()
    let answer = try negotiation.session.open(
      offering: offer, until: .after(timeouts.request), stop: stop)
    onEvent(.offered(endpoint.address))
    refused.withLock { $0 = answer.refused }
    for kind in answer.refused { onEvent(.refused(kind)) }
    return try negotiation.apply(answer, to: offer, servers: servers)
  }

  /// Sends candidates as they arrive, and monitors the media until the connection is lost or
  /// stopped.
  private func sendMedia(
    _ negotiation: Negotiation, trying paths: TriedPaths
  ) throws(WHIPError) {
    var tried = paths
    let limit =
      paths.remote.isEmpty ? min(timeouts.refused, timeouts.connecting) : timeouts.connecting
    let startNs = monotonicNowNs()
    var mediaDeadline = Deadline.after(limit)
    var interval = ReportInterval()
    var nextReport = Deadline.after(Self.reportInterval)
    var refusal: WHIPError?
    while true {
      let events = engine.events.next(until: min(mediaDeadline, nextReport), stop: stop)
      if stop.isRaised { throw .stopped }
      for event in events {
        switch event {
        case .ready: break
        case .candidate(let candidate):
          negotiation.session.add(candidate)
          tried.add(candidate)
        case .gathered:
          negotiation.session.endCandidates()
          // Nothing can be tried.
          if tried.local.isEmpty { mediaDeadline = min(mediaDeadline, .after(timeouts.refused)) }
        case .connected:
          mediaDeadline = .after(interval.silence(timeouts))
          current.withLock { $0 = .connected }
          wasConnected.withLock { $0 = true }
          onEvent(.connected)
        case .disconnected: if isConnected { mediaDeadline = .after(timeouts.silence) }
        case .failed:
          throw isConnected
            ? .connectionLost(endpoint.address)
            : refusal ?? .connectionFailed(endpoint.address, tried)
        case .closed: throw .connectionClosed(endpoint.address)
        case .impostor: throw .wrongCertificate(endpoint.address)
        }
      }
      if let error = sendCandidates(negotiation), !stop.isRaised {
        // The connection may be possible without them.
        refusal = error
        if isConnected {
          onEvent(.candidatesRefused(error))
        } else {
          mediaDeadline = min(mediaDeadline, .after(timeouts.refused))
        }
      }
      if nextReport.isPast {
        nextReport = .after(Self.reportInterval)
        // webrtcbin does not notice a peer that vanishes: its reports just stop.
        if isConnected, let report = engine.report() {
          interval.note(monotonicNowNs())
          mediaDeadline = .after(interval.silence(timeouts))
          adapt(to: report)
        }
      }
      // Checked after the report, which may have arrived during a slow request.
      if mediaDeadline.isPast {
        throw isConnected
          ? .connectionLost(endpoint.address)
          : refusal
            ?? .noConnection(
              endpoint.address, seconds: Int64((monotonicNowNs() - startNs) / 1_000_000_000), tried)
      }
    }
  }

  private func sendCandidates(_ negotiation: Negotiation) -> WHIPError? {
    do throws(WHIPError) {
      try negotiation.sendCandidates()
      return nil
    } catch {
      return error
    }
  }

  private var isConnected: Bool { state == .connected }

  private func adapt(to report: WebRTCReport) {
    // Set under the lock, so that a bitrate that the user changes meanwhile is not undone.
    let changed = control.withLock { control -> Int? in
      let before = control
      let hasChanged = control.adapt(to: report, nowNs: monotonicNowNs())
      let restarts = control.restarts > before.restarts
      if restarts || control.pausedUntilNs != before.pausedUntilNs {
        engine.pause(untilNs: control.pausedUntilNs, restarts: restarts)
      }
      if control.repeatsTwice != before.repeatsTwice {
        engine.set(repeatsTwice: control.repeatsTwice)
      }
      guard hasChanged else { return nil }
      set(control)
      return control.mediaBitsPerSecond
    }
    if let changed { onEvent(.bitrate(changed)) }
  }

  private func set(_ control: BitrateControl) {
    engine.set(bitsPerSecond: control.mediaBitsPerSecond, pace: control.pace)
    engine.set(soundBitsPerSecond: control.soundBitsPerSecond)
  }
}

/// The longest time between two reports of a peer. Some report ten times a second, others every few
/// seconds (RFC 3550, section 6.2).
struct ReportInterval {
  private var newestNs: UInt64?
  private var longest: Duration?

  mutating func note(_ nowNs: UInt64) {
    if let newestNs {
      longest = max(longest ?? .zero, .nanoseconds(Int64(clamping: nowNs &- newestNs)))
    }
    newestNs = nowNs
  }

  /// For how long the peer may be silent.
  func silence(_ timeouts: WHIPConnection.Timeouts) -> Duration {
    let own = longest.map { $0 * 2 } ?? timeouts.usualSilence
    return max(timeouts.silence, min(timeouts.usualSilence, own))
  }
}
