#if Media
  import Platform
  import Synchronization

  // Carries what Bridge defines over a NATS server: the notifications of a group on a connection
  // that one thread drives, and its settings, log and directory on a second one.
  //
  // This module refuses to decide what crosses, and to parse what the network sent: Bridge does
  // both. Failures: docs/design/bridge.md.

  /// A way to a NATS server: one connection after the other. One thread makes them, any number may
  /// use the present one.
  final class NATSLink: Sendable {
    private let access: NATSAccess
    private let name: String
    private let wake: EventCounter?
    private let isDriven: Bool
    private let state = Mutex(State())

    private struct State {
      var connection: NATSConnection?
      var count: UInt64 = 0
      /// Of the cluster, besides the one that the user named.
      var learned: [NATSAccess.Server] = []
      var attempts = 0
      var retryAt = Deadline.now
      var failure: NATSFailure?
    }

    /// - Parameters:
    ///   - wake: raised at the end of each connection.
    ///   - isDriven: whether one thread reads and writes, by `drive`.
    init(
      _ access: NATSAccess, named name: String, wake: EventCounter? = nil, isDriven: Bool = false
    ) {
      self.access = access
      self.name = name
      self.wake = wake
      self.isDriven = isDriven
    }

    // MARK: Connecting

    /// Connects once if there is no connection and it is time to try, which may take seconds.
    /// - Returns: whether there is a connection.
    /// - Throws: if the first connection fails for a reason that somebody must remove. Later ones
    ///   are tried for ever: the server's operator may be changing it.
    func connectIfDue() throws(NATSFailure) -> Bool {
      if isConnected { return true }
      if let connection { leave(connection) }
      let server = state.withLock { state -> NATSAccess.Server? in
        guard state.retryAt.isPast else { return nil }
        let all = [access.server] + state.learned
        return all[state.attempts % all.count]
      }
      guard let server else { return false }
      do throws(NATSFailure) {
        let connection = try NATSConnection(
          access, to: server, named: name, wake: wake, isDriven: isDriven)
        state.withLock { state in
          state.connection = connection
          state.count += 1
          state.attempts = 0
          state.failure = nil
        }
        return true
      } catch {
        let isFirst = state.withLock { state in
          state.attempts += 1
          state.retryAt = Self.retry(after: state.attempts)
          // What a server of the cluster says about its others proves nothing.
          if server == access.server || state.failure == nil { state.failure = error }
          return state.count == 0
        }
        if isFirst, error.isLasting, server == access.server { throw error }
        return false
      }
    }

    /// With jitter, so that many bridges do not connect at once, and never so late that a user
    /// waits.
    private static func retry(after attempts: Int) -> Deadline {
      let mostMs = min(2000, 100 << min(attempts, 5))
      return .after(.milliseconds(Int.random(in: mostMs / 2...mostMs)))
    }

    private func leave(_ ended: NATSConnection) {
      let why = end(of: ended)
      let learned = ended.learnedServers().compactMap { access.learned($0) }
      state.withLock { state in
        state.failure = why
        state.learned = learned
        state.connection = nil
        state.retryAt = Self.retry(after: 0)
      }
    }

    private func end(of connection: NATSConnection) -> NATSFailure {
      let detail = connection.lastError
      return NATSFailure(
        kind: .unreachable, url: access.url, credential: access.credential,
        detail: detail.isEmpty ? "the connection ended" : detail)
    }

    /// When the next attempt is due.
    var retryAt: Deadline { state.withLock { $0.retryAt } }
    /// Why there is no connection; nil if there is one, or no attempt has ended yet.
    var failure: NATSFailure? {
      let (connection, known) = state.withLock { ($0.connection, $0.failure) }
      guard let connection else { return known }
      return connection.isConnected ? nil : end(of: connection)
    }

    private var connection: NATSConnection? { state.withLock { $0.connection } }
    var isConnected: Bool { connection?.isConnected ?? false }
    /// How often it has connected.
    var connectionCount: UInt64 { state.withLock { $0.count } }
    func takeRefusals() -> [String] { connection?.takeRefusals() ?? [] }

    // MARK: Driving

    /// Waits until the socket or one of two descriptors is ready, and reads and writes.
    /// - Returns: whether `wake` is readable. Without a connection nothing is waited for: true.
    func drive(
      stop: Int32, wake: Int32, until deadline: Deadline
    ) throws(SystemError) -> Bool {
      guard let connection else { return true }
      return try connection.drive(stop: stop, wake: wake, until: deadline)
    }

    // MARK: Messages

    private func present() throws(NATSError) -> NATSConnection {
      guard let connection else { throw NATSError(description: "there is no connection") }
      return connection
    }

    @discardableResult
    func publish(_ bytes: [UInt8], to subject: String, reply: String? = nil) -> Bool {
      connection?.publish(bytes, to: subject, reply: reply) ?? false
    }

    func listen(
      to subject: String, mostMessages: Int32, mostBytes: Int32
    ) throws(NATSError) -> NATSListener {
      try present().listen(to: subject, mostMessages: mostMessages, mostBytes: mostBytes)
    }

    // MARK: Streams

    /// When a stream was made, in nanoseconds since 1970 by the server's clock.
    func madeNs(of stream: String) throws(NATSError) -> UInt64 { try present().madeNs(of: stream) }

    func makeStream(_ stream: NATSStream) throws(NATSError) -> NATSStream.State {
      try present().makeStream(stream)
    }

    func store(
      _ bytes: [UInt8], in stream: String, as subject: String, id: String? = nil,
      over revision: UInt64? = nil
    ) throws(NATSError) -> UInt64? {
      try present().store(bytes, in: stream, as: subject, id: id, over: revision)
    }

    func newest(
      in stream: String, _ subject: String, atMost limit: Int
    ) throws(NATSError) -> NATSMessage? {
      try present().newest(in: stream, subject, atMost: limit)
    }

    func follow(
      _ stream: String, _ subject: String, from start: NATSStart
    ) throws(NATSError) -> (listener: NATSListener, pending: UInt64) {
      try present().follow(stream, subject, from: start)
    }
  }

  /// A stream's properties, as it is made if it is missing.
  struct NATSStream {
    var name: String
    var subjects: String
    var isInMemory = false
    var mostPerSubject: Int64 = -1
    var mostBytes: Int64
    var mostAge = Duration.zero
    var duplicates = Duration.zero

    struct State {
      /// In nanoseconds since 1970 by the server's clock.
      let madeNs: UInt64
      /// Whether fewer than three servers of a cluster have it.
      let lacksReplicas: Bool
    }

    /// A bucket of the key-value store, which keeps the newest value of each key.
    static func bucket(_ name: String, isInMemory: Bool, mostBytes: Int64) -> NATSStream {
      NATSStream(
        name: "KV_" + name, subjects: "$KV.\(name).>", isInMemory: isInMemory,
        mostPerSubject: 1, mostBytes: mostBytes)
    }
  }

  /// Where to begin in a stream.
  enum NATSStart {
    case first
    /// The newest message of each subject.
    case newestOnly
    /// By the server's clock, in nanoseconds since 1970.
    case time(ns: UInt64)
    case sequence(UInt64)
  }
#endif
