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
    /// The sessions that can be changed; of more, the oldest are left to the endpoint.
    static let maximumSessions = 32
    private static let requestTimeout = Duration.seconds(10)
    private static let removalTimeout = Duration.seconds(3)

    private let endpoint: WHIPEndpoint
    private let makeClient: @Sendable () throws(HTTPError) -> any HTTPClient
    private let stop: StopSignal
    private let sessions = Mutex<[Session]>([])

    private final class Session: @unchecked Sendable {
      // because the session and its client are used under the lock alone

      let name = "\(PageToken())"
      private let session: WHIPSession
      private let lock = Mutex(())

      init(_ endpoint: WHIPEndpoint, _ client: any HTTPClient) {
        session = WHIPSession(endpoint, client: client)
      }

      func perform<Value: Sendable>(
        _ body: (WHIPSession) throws(WHIPError) -> Value
      ) throws(WHIPError) -> Value {
        try lock.withLock { _ throws(WHIPError) in try body(session) }
      }
    }

    /// - Parameter makeClient: makes the client of one session.
    public init(
      _ endpoint: WHIPEndpoint,
      client makeClient: @escaping @Sendable () throws(HTTPError) -> any HTTPClient
    ) throws(SystemError) {
      self.endpoint = endpoint
      self.makeClient = makeClient
      stop = try StopSignal()
    }

    /// The address without keys.
    var title: String { "\(endpoint.address)" }

    /// Passes an offer on. Blocks until the endpoint has answered.
    func open(_ offer: String) throws(WHIPError) -> AdmittedViewer {
      let client: any HTTPClient
      do throws(HTTPError) { client = try makeClient() } catch {
        throw .unreachable(endpoint.address, error)
      }
      let session = Session(endpoint, client)
      let answer = try session.perform { session throws(WHIPError) in
        do throws(WHIPError) {
          return try session.view(
            offering: offer, until: .after(Self.requestTimeout), stop: stop)
        } catch {
          try? session.remove(until: .after(Self.removalTimeout))
          throw error
        }
      }
      sessions.withLock { $0 = $0.suffix(Self.maximumSessions - 1) + [session] }
      return AdmittedViewer(name: session.name, answer: answer)
    }

    /// Passes candidates on.
    /// - Returns: false if there is no such session.
    func add(_ fragment: String, to name: String) throws(WHIPError) -> Bool {
      guard let session = sessions.withLock({ $0.first { $0.name == name } }) else { return false }
      try session.perform { session throws(WHIPError) in
        try session.send(fragment: fragment, until: .after(Self.requestTimeout), stop: stop)
      }
      return true
    }

    /// Removes a session at the endpoint.
    /// - Returns: false if there is no such session.
    func remove(_ name: String) throws(WHIPError) -> Bool {
      let found = sessions.withLock { sessions -> Session? in
        let found = sessions.first { $0.name == name }
        sessions.removeAll { $0.name == name }
        return found
      }
      guard let found else { return false }
      try found.perform { session throws(WHIPError) in
        try session.remove(until: .after(Self.removalTimeout))
      }
      return true
    }

    /// Ends requests that wait for an answer.
    func interrupt() { stop.raise() }

    /// Removes all sessions at the endpoint, as far as it answers in time.
    func end(until deadline: Deadline) {
      let open = sessions.withLock { sessions in
        defer { sessions = [] }
        return sessions
      }
      for session in open {
        try? session.perform { session throws(WHIPError) in try session.remove(until: deadline) }
      }
    }
  }
#endif
