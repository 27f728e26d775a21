import Platform
import Synchronization

/// Sends media to a peer once offer and answer are exchanged. webrtcbin implements it, and so do
/// tests.
///
/// Calls come from one thread; events may come from any thread.
public protocol WebRTCEngine: AnyObject, Sendable {
  var events: WebRTCEvents { get }

  /// Makes an offer. Call this after the event `.ready`.
  func makeOffer() throws(WHIPError) -> String
  /// Adds a server for the ICE checks that begin with `use(offer:)`.
  /// - Throws: `.unusableServer`, or another failure.
  func add(_ server: ICEServer, until deadline: Deadline, stop: StopSignal) throws(WHIPError)
  /// Makes candidates of every address of this machine, as for a peer on this machine. By default,
  /// engines leave out loopback addresses.
  func useAllAddresses() throws(WHIPError)
  /// Begins to gather candidates for this offer.
  func use(offer: String) throws(WHIPError)
  func use(answer: String) throws(WHIPError)

  /// What the peer has reported since the last call; nil if there was no report.
  func report() -> WebRTCReport?
  /// Changes the encoder's bitrate.
  /// - Parameter pace: the rate at which one picture's packets leave; nil for at once.
  func set(bitsPerSecond: Int, pace: Int?)
  /// Changes the bitrate of the sound.
  func set(soundBitsPerSecond: Int)
  /// Sends no retransmissions until this time of the monotonic clock.
  /// - Parameter restarts: whether pictures then begin anew with a key frame, and those sent
  ///   before are given up.
  func pause(untilNs: UInt64, restarts: Bool)
  /// Sends the first retransmission of each packet twice.
  func set(repeatsTwice: Bool)
}

extension WebRTCEngine {
  public func set(soundBitsPerSecond: Int) {}
  public func pause(untilNs: UInt64, restarts: Bool) {}
  public func set(repeatsTwice: Bool) {}
}

public enum WebRTCEvent: Hashable, Sendable {
  /// An offer can be made.
  case ready
  case candidate(ICECandidate)
  /// All candidates are gathered.
  case gathered
  case connected
  /// The peer does not answer; it may come back.
  case disconnected
  case failed
  /// The peer has ended the connection.
  case closed
  /// The peer's certificate is not one that the answer names. Nothing was sent to it.
  case impostor
}

/// A peer's report on the packets it receives.
public struct WebRTCReport: Hashable, Sendable {
  /// Packets sent since the previous report, as counted by the peer.
  public var packetsExpected: UInt64
  /// Packets of these that are missing; negative if some arrived late or twice.
  public var packetsLost: Int64
  /// The time from here to the peer and back, if the peer has reported it.
  public var roundTripNs: UInt64?
  /// The bitrate that the peer allows at most, if it has said so (REMB).
  public var maximumBitsPerSecond: Int?
  /// The packets that have arrived, if the peer reports each one.
  public var arrivals: [PacketArrival] = []
  /// The packets that the peer has requested again, each counted once.
  public var packetsRequested = 0
  /// The shortest time from the sending of one of these to the request; nil without any.
  public var requestDelayNs: UInt64?
  /// What this side has retransmitted since the previous report.
  public var repeatedBytes = 0
  public var repeatedPackets = 0

  public init(packetsExpected: UInt64 = 0, packetsLost: Int64 = 0) {
    self.packetsExpected = packetsExpected
    self.packetsLost = packetsLost
  }

  /// The share of lost packets, 0…1; nil if none was expected.
  public var lostShare: Double? {
    guard packetsExpected > 0 else { return nil }
    return min(max(Double(packetsLost) / Double(packetsExpected), 0), 1)
  }
}

/// A queue of events from an engine's threads to the signalling thread.
public final class WebRTCEvents: Sendable {
  private let waiting = Mutex<[WebRTCEvent]>([])
  private let changes = PrivateFutexWord()

  public init() {}

  public func append(_ event: WebRTCEvent) {
    waiting.withLock { $0.append(event) }
    changes.increment()
    changes.wakeAll()
  }

  /// Takes all queued events, and blocks until there is one.
  /// - Returns: an empty array if the deadline passed or the signal was raised first.
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
