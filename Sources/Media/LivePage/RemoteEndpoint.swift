#if Media
  import Platform
  import Synchronization
  import WHIP

  /// A WHEP endpoint that the page shows beside its own streams. The server relays the signalling,
  /// so that the page needs neither the bearer token nor the endpoint's permission for other pages
  /// (CORS); media flow between browser and endpoint.
  ///
  /// Requests go only to the origin of the address that the user named, whatever the endpoint
  /// answers.
  public final class RemoteEndpoint: Sendable {
    private static let requestTimeout = Duration.seconds(10)
    private static let removalTimeout = Duration.seconds(3)

    let maximumViewers: Int
    private let endpoint: WHIPEndpoint
    private let makeClient: @Sendable () throws(HTTPError) -> any HTTPClient
    private let longestSilence: Duration
    private let stop: StopSignal
    private let room = Mutex(Room())

    private struct Room {
      var viewers: [Viewer] = []
      /// Sessions that are being opened.
      var reserved = 0
      /// Sessions to remove at the endpoint; the removal of the first is under way.
      var leaving: [Session] = []
    }

    private struct Viewer {
      let session: Session
      /// The last sign of its page.
      var heardNs = monotonicNowNs()
    }

    private final class Session: Sendable {
      let name = "\(PageToken())"
      private let session: Mutex<WHIPSession>
      private let offer: String

      init(_ endpoint: WHIPEndpoint, _ client: any HTTPClient, offering offer: String) {
        session = Mutex(WHIPSession(endpoint, client: client))
        self.offer = offer
      }

      /// Whether the offer has these ICE credentials.
      func offers(_ usernameFragment: String) -> Bool {
        offer.split(whereSeparator: \.isNewline).contains("a=ice-ufrag:" + usernameFragment)
      }

      func open(until deadline: Deadline, stop: StopSignal) throws(WHIPError) -> String {
        try session.withLock { session throws(WHIPError) in
          do throws(WHIPError) {
            return try session.view(offering: offer, until: deadline, stop: stop).sdp
          } catch {
            try? session.remove(until: .after(RemoteEndpoint.removalTimeout))
            throw error
          }
        }
      }

      func send(
        _ fragment: String, until deadline: Deadline, stop: StopSignal
      ) throws(WHIPError) {
        try session.withLock { session throws(WHIPError) in
          try session.send(fragment: fragment, until: deadline, stop: stop)
        }
      }

      func remove(until deadline: Deadline) throws(WHIPError) {
        try session.withLock { session throws(WHIPError) in try session.remove(until: deadline) }
      }
    }

    /// - Parameters:
    ///   - maximumViewers: how many sessions are open at most. With one more, one of which nothing
    ///     has been heard for long is removed, because a browser that is killed does not do so.
    ///   - makeClient: makes the client of one session.
    public convenience init(
      _ endpoint: WHIPEndpoint, maximumViewers: Int,
      client makeClient: @escaping @Sendable () throws(HTTPError) -> any HTTPClient
    ) throws(SystemError) {
      // Browsers delay the timers of pages that nobody sees, for up to a minute.
      try self.init(
        endpoint, maximumViewers: maximumViewers, longestSilence: .seconds(90), client: makeClient)
    }

    init(
      _ endpoint: WHIPEndpoint, maximumViewers: Int, longestSilence: Duration,
      client makeClient: @escaping @Sendable () throws(HTTPError) -> any HTTPClient
    ) throws(SystemError) {
      self.endpoint = endpoint
      self.maximumViewers = maximumViewers
      self.longestSilence = longestSilence
      self.makeClient = makeClient
      stop = try StopSignal()
    }

    /// The address without keys.
    var title: String { "\(endpoint.address)" }

    /// Passes an offer on. Blocks until the endpoint has answered.
    /// - Returns: nil if there are as many viewers as are allowed.
    func open(_ offer: String) throws(WHIPError) -> AdmittedViewer? {
      guard reserve() else { return nil }
      defer { room.withLock { $0.reserved -= 1 } }
      let client: any HTTPClient
      do throws(HTTPError) { client = try makeClient() } catch {
        throw .unreachable(endpoint.address, error)
      }
      let session = Session(endpoint, client, offering: offer)
      let answer = try session.open(until: .after(Self.requestTimeout), stop: stop)
      room.withLock { $0.viewers.append(Viewer(session: session)) }
      return AdmittedViewer(name: session.name, answer: answer)
    }

    private func reserve() -> Bool {
      room.withLock { room in
        if room.viewers.count + room.reserved >= maximumViewers {
          guard let silent = room.viewers.min(by: { $0.heardNs < $1.heardNs }),
            Deadline(monotonicNs: silent.heardNs &+ longestSilence.clampedNanoseconds).isPast
          else { return false }
          room.viewers.removeAll { $0.session === silent.session }
          leave(silent.session, &room)
        }
        room.reserved += 1
        return true
      }
    }

    /// Passes candidates on, unless their ICE session is another than the offer's: the answer to a
    /// restart would not reach the viewer.
    func add(
      _ text: String, _ fragment: CandidateFragment, to name: String
    ) throws(WHIPError) -> CandidateOutcome {
      guard let session = session(name) else { return .unknownViewer }
      if let own = fragment.usernameFragment, !session.offers(own) { return .otherSession }
      try session.send(text, until: .after(Self.requestTimeout), stop: stop)
      return .taken
    }

    /// Notes that a session's page is there.
    /// - Returns: false if there is no such session.
    func hear(_ name: String) -> Bool { session(name) != nil }

    private func session(_ name: String) -> Session? {
      room.withLock { room in
        guard let index = room.viewers.firstIndex(where: { $0.session.name == name }) else {
          return nil
        }
        room.viewers[index].heardNs = monotonicNowNs()
        return room.viewers[index].session
      }
    }

    // MARK: Removal

    /// Removes a session at the endpoint.
    /// - Returns: false if there is no such session.
    func remove(_ name: String) throws(WHIPError) -> Bool {
      let found = room.withLock { room -> Session? in
        let index = room.viewers.firstIndex { $0.session.name == name }
        return index.map { room.viewers.remove(at: $0).session }
      }
      guard let found else { return false }
      try found.remove(until: .after(Self.removalTimeout))
      return true
    }

    /// Removes a session at the endpoint while no request waits for that. If the endpoint does not
    /// answer to many, further ones are left to it.
    private func leave(_ session: Session, _ room: inout Room) {
      guard room.leaving.count < maximumViewers else { return }
      room.leaving.append(session)
      guard room.leaving.count == 1 else { return }
      do { try startThread(named: "leaving") { [self] in removeLeaving() } } catch {
        room.leaving = []
      }
    }

    private func removeLeaving() {
      while let session = room.withLock({ $0.leaving.first }) {
        try? session.remove(until: .after(Self.removalTimeout))
        room.withLock { room in room.leaving.removeAll { $0 === session } }
      }
    }

    /// Ends requests that wait for an answer.
    func interrupt() { stop.raise() }

    /// Removes all sessions at the endpoint, as far as it answers in time.
    func end(until deadline: Deadline) {
      let open = room.withLock { room in
        defer { (room.viewers, room.leaving) = ([], []) }
        return room.leaving + room.viewers.map(\.session)
      }
      for session in open { try? session.remove(until: deadline) }
    }
  }
#endif
