#if Media
  import AppGroup
  import Bridge
  import Platform

  /// Reads the log of all machines from the server, and goes on after a lost connection with the
  /// first batch that it has not passed on.
  package final class GroupLogReader {
    private let link: NATSLink
    private let subjects: BridgeSubjects
    private let warn: (String) -> Void
    private var saidReasons: Set<String> = []
    /// Of the newest batch that was passed on.
    private var position: UInt64 = 0
    /// When the server made the stream: another one counts positions anew.
    private var madeNs: UInt64 = 0
    private var hasPassedPresent = false

    /// How long the first connection may take.
    private static let firstLimit = Duration.seconds(10)

    package init(_ group: AppGroup, _ access: NATSAccess, warn: @escaping (String) -> Void) {
      link = NATSLink(access, named: "framebus log \(group.id)")
      subjects = BridgeSubjects(group.id)
      self.warn = warn
    }

    /// Passes on each batch, in the order in which the server stored them; nil once all present
    /// ones are passed on.
    /// - Parameter sinceNs: by the server's clock, in nanoseconds since 1970; 0 for all.
    package func run(
      sinceNs: UInt64, follows: Bool, _ stop: StopSignal, _ body: (LogBatch?) throws -> Void
    ) throws {
      var firstLimit: Deadline = .after(Self.firstLimit)
      while !stop.isRaised {
        guard try link.connectIfDue() else {
          try sayFailure(isLast: firstLimit.isPast)
          _ = try waitUntilReadable([stop.descriptorNumber], until: link.retryAt)
          continue
        }
        saidReasons = []
        firstLimit = .never
        do throws(NATSError) {
          let listener = try begin(sinceNs)
          if try pass(listener, follows: follows, stop, body) { return }
        } catch {
          // What the reader, or the user who ended it, threw.
          if let other = passedError { throw other }
          if link.isConnected || !follows { throw error }
        }
      }
    }

    private var passedError: (any Error)?
    private var left: UInt64 = 0

    private func sayFailure(isLast: Bool) throws(NATSFailure) {
      guard let failure = link.failure else { return }
      if isLast { throw failure }
      if failure.isLasting || link.connectionCount > 0, saidReasons.count < 16,
        saidReasons.insert(failure.reason).inserted
      {
        warn("not connected: \(failure.reason); trying again until it succeeds")
      }
    }

    private func begin(_ sinceNs: UInt64) throws(NATSError) -> NATSListener {
      let nowMadeNs = try link.madeNs(of: subjects.logStream)
      if nowMadeNs != madeNs { position = 0 }
      madeNs = nowMadeNs
      let start: NATSStart =
        position > 0 ? .sequence(position + 1) : sinceNs > 0 ? .time(ns: sinceNs) : .first
      let found = try link.follow(subjects.logStream, subjects.allLogs, from: start)
      left = found.pending
      return found.listener
    }

    /// - Returns: whether all is passed on; false if the connection ended.
    private func pass(
      _ listener: NATSListener, follows: Bool, _ stop: StopSignal,
      _ body: (LogBatch?) throws -> Void
    ) throws(NATSError) -> Bool {
      func show(_ batch: LogBatch?) throws(NATSError) {
        do { try body(batch) } catch {
          passedError = error
          throw NATSError(description: "the reader ended")
        }
      }
      func sayPresent() throws(NATSError) {
        if !hasPassedPresent { try show(nil) }
        hasPassedPresent = true
      }
      if left == 0 { try sayPresent() }
      while !stop.isRaised, follows || left > 0 {
        switch listener.next(within: .milliseconds(200), atMost: LogBatch.maximumBytes) {
        case .message(let message):
          if let batch = LogBatch(parsing: message.bytes),
            message.subject == subjects.log(of: batch.machine)
          {
            try show(batch)
          }
          position = max(position, message.sequence)
          if left > 0 {
            left = min(left - 1, message.pending)
            if left == 0 { try sayPresent() }
          }
        case .nothing:
          if link.isConnected { continue }
          if !follows { throw NATSError(description: "the connection to the server ended") }
          return false
        case .interrupted:
          if !follows { throw NATSError(description: "the connection to the server ended") }
          return false
        }
      }
      return true
    }
  }
#endif
