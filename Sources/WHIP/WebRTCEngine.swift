import Platform
import Synchronization

/// What sends media to a peer once the two have been introduced: webrtcbin does it, and tests do.
///
/// Calls come from one thread; events may come from any.
public protocol WebRTCEngine: AnyObject, Sendable {
  var events: WebRTCEvents { get }

  /// An offer to send, once `.ready` has come.
  func makeOffer() throws(WHIPError) -> String
  /// To be used for finding a way to the peer, from `use(offer:)` on.
  /// - Throws: `.unusableServer`, or what else went wrong.
  func add(_ server: ICEServer, until deadline: Deadline, stop: StopSignal) throws(WHIPError)
  /// Makes candidates of this address alone, as where the peer is on this machine.
  func useOnly(localAddress: String) throws(WHIPError)
  /// Begins to gather candidates for this offer.
  func use(offer: String) throws(WHIPError)
  func use(answer: String) throws(WHIPError)

  /// What the peer has said of what it receives since this was last asked; nil if it said nothing.
  func report() -> WebRTCReport?
  /// Changes what the encoder may use.
  func set(bitsPerSecond: Int)
}

public enum WebRTCEvent: Hashable, Sendable {
  /// An offer can be made.
  case ready
  case candidate(ICECandidate)
  /// No candidate follows.
  case gathered
  case connected
  /// Nothing is heard of the peer; it may come back.
  case disconnected
  case failed
  /// The peer's certificate is not one that the answer names. Nothing was sent to it.
  case impostor
}

/// What a peer reports of the packets it receives.
public struct WebRTCReport: Hashable, Sendable {
  /// That were sent since the report before, as far as the peer can know.
  public var packetsExpected: UInt64
  /// Of these; negative where some came late, or twice.
  public var packetsLost: Int64

  public init(packetsExpected: UInt64, packetsLost: Int64) {
    self.packetsExpected = packetsExpected
    self.packetsLost = packetsLost
  }

  /// 0…1; nil where no packet was expected.
  public var lostShare: Double? {
    guard packetsExpected > 0 else { return nil }
    return min(max(Double(packetsLost) / Double(packetsExpected), 0), 1)
  }
}

/// Events on their way from an engine's threads to the one that signals.
public final class WebRTCEvents: Sendable {
  private let waiting = Mutex<[WebRTCEvent]>([])
  private let changes = PrivateFutexWord()

  public init() {}

  public func append(_ event: WebRTCEvent) {
    waiting.withLock { $0.append(event) }
    changes.increment()
    changes.wakeAll()
  }

  /// Takes all that have come, and waits for one if there is none.
  /// - Returns: nothing if the deadline passed or the signal was raised first.
  func next(until deadline: Deadline, stop: StopSignal) -> [WebRTCEvent] {
    while true {
      let seen = changes.load()
      let events = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      if !events.isEmpty || stop.isRaised || deadline.isPast { return events }
      // SAFETY: no shared word is watched; the private ones live in objects held here.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (changes, seen), stop.word, until: deadline)
    }
  }
}
