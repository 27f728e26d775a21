#if Media
  import AppGroup
  import Bridge
  import Platform
  import SharedDefaults

  /// Carries settings and the directory of machines: everything for which a machine asks the server
  /// and waits. One thread runs it.
  final class StateLoop {
    private let core: BridgeCore
    private let link: NATSLink
    private let notes: NoteLoop
    private let directory: MachineDirectory
    private var connections: UInt64 = 0
    private var hasStreams = false
    private var mustCatchUp = true
    private var notesMadeNs: UInt64 = 0
    private var suites: [String: Suite] = [:]
    private var bucket: SuiteBucket?
    private var saidConnected = false
    private var hasConnected = false
    /// Since the last connection.
    private var saidReasons: Set<String> = []
    private var recheckAt = Deadline.now
    /// When streams that could not be made, or lack replicas, are tried again.
    private var recheckStreamsAt = Deadline.never
    private var replicasPause = StateLoop.recheckInterval
    private var streamWarnings: Set<String> = []
    private var warning = ""

    private struct Suite {
      let sync: SuiteSync
      let observation: DefaultsObservation
      var isDue = true
    }

    private static let pace = Duration.seconds(1)
    /// Of all machines and names.
    private static let mostNotes: UInt64 = 1024 * 256
    /// How often suites are compared although nothing is known to have changed.
    private static let recheckInterval = Duration.seconds(10)
    private static let longestPause = Duration.seconds(600)

    init(_ core: BridgeCore, _ link: NATSLink, _ notes: NoteLoop, _ start: BridgeState.Start) {
      self.core = core
      self.link = link
      self.notes = notes
      directory = MachineDirectory(core, link, start)
    }

    /// Runs until the stop.
    /// - Throws: if another machine has this one's name, or what keeps the first connection from
    ///   being made, if it will not pass by itself.
    func run(_ stop: StopSignal) throws {
      while !stop.isRaised {
        let pace = Deadline.after(Self.pace)
        _ = try waitUntilReadable(
          [stop.descriptorNumber, core.work.counter.number],
          until: link.isConnected ? pace : min(pace, link.retryAt))
        let (requests, reports) = core.work.take()
        for request in requests {
          switch request {
          case .catchUp: mustCatchUp = true
          case .streams: hasStreams = false
          case .suite(let token): suites[token]?.isDue = true
          }
        }
        follow(core.group.bridgePolicy.suites)
        directory.note(reports)
        if recheckAt.isPast {
          recheckAt = .after(Self.recheckInterval)
          for token in suites.keys { suites[token]?.isDue = true }
        }
        defer { sayConnection() }
        guard try link.connectIfDue() else { continue }
        core.sayRefusals(of: link)
        do {
          try work()
          warning = ""
        } catch let error as MachineNameTaken {
          throw error
        } catch {
          hasStreams = false
          // A connection that ended meanwhile is reported as such.
          if link.isConnected { warnOnce("\(error)") }
        }
      }
      directory.leave()
    }

    private func work() throws {
      if link.connectionCount != connections {
        connections = link.connectionCount
        hasStreams = false
        replicasPause = Self.recheckInterval
        mustCatchUp = true
        for token in suites.keys { suites[token]?.isDue = true }
      }
      if !hasStreams || recheckStreamsAt.isPast { try makeStreams() }
      if mustCatchUp { try catchUp() }
      try directory.report()
      guard let bucket else { return }
      for (token, suite) in suites where suite.isDue {
        suites[token]?.isDue = false
        do { show(try suite.sync.run(with: bucket), of: suite.sync.name) } catch {
          suites[token]?.isDue = true
          warnOnce("the settings \(suite.sync.name) wait: \(error)")
        }
      }
    }

    // MARK: Streams

    /// Makes the streams that are missing. What the server keeps in memory goes on without what it
    /// keeps on its disk.
    private func makeStreams() throws {
      let subjects = core.subjects
      var lacksReplicas = false
      func make(_ stream: NATSStream) throws -> UInt64 {
        let state = try link.makeStream(stream)
        lacksReplicas = lacksReplicas || state.lacksReplicas
        return state.madeNs
      }
      let madeNs = try make(
        .init(
          name: subjects.notesStream, subjects: subjects.allNotes, isInMemory: true,
          mostPerSubject: 1, mostBytes: 64 << 20))
      // A server that restarted has lost what it kept in memory.
      if madeNs != notesMadeNs {
        notesMadeNs = madeNs
        notes.sendAll()
        directory.repeatReport()
        mustCatchUp = true
      }
      _ = try make(
        .bucket(subjects.machineBucket, isInMemory: true, mostBytes: 16 << 20))
      hasStreams = true
      recheckStreamsAt = .never
      makeStored("the settings wait") {
        let suitesNs = try make(
          .bucket(subjects.suiteBucket, isInMemory: false, mostBytes: 128 << 20))
        bucket = SuiteBucket(link: link, name: subjects.suiteBucket, identity: suitesNs)
      }
      makeStored("the log waits") {
        _ = try make(
          .init(
            name: subjects.logStream, subjects: subjects.allLogs, mostBytes: BridgeLog.mostBytes,
            mostAge: .seconds(7 * 86400), duplicates: .seconds(600)))
        core.isReady.store(true, ordering: .releasing)
      }
      // Nothing says when a cluster has got its third server.
      if lacksReplicas {
        recheckStreamsAt = min(recheckStreamsAt, .after(replicasPause))
        replicasPause = min(replicasPause * 2, Self.longestPause)
      }
    }

    private func makeStored(_ effect: String, _ make: () throws -> Void) {
      do { try make() } catch {
        recheckStreamsAt = .after(Self.recheckInterval)
        if streamWarnings.insert("\(effect): \(error)").inserted {
          core.warn("\(effect): \(error)")
        }
      }
    }

    /// Delivers the newest note of each machine and name, which may have been missed.
    private func catchUp() throws {
      let subjects = core.subjects
      let stream = try link.follow(subjects.notesStream, subjects.allNotes, from: .newestOnly)
      var left = min(stream.pending, Self.mostNotes)
      var batch: [Note] = []
      while left > 0 {
        guard
          case .message(let message) = stream.listener.next(
            within: .seconds(3), atMost: Note.maximumBytes)
        else { throw NATSError(description: "the server did not send its newest notifications") }
        left = min(left - 1, message.pending)
        if let note = core.note(message) { batch.append(note) }
        if batch.count == 256 || left == 0 {
          notes.deliver(batch)
          batch = []
        }
      }
      try directory.readAll()
      mustCatchUp = false
    }

    // MARK: Suites

    /// Carries the suites that the manifest lets cross, and no others any more.
    private func follow(_ names: Set<String>) {
      let known = Set(suites.values.map(\.sync.name))
      if known == names { return }
      for name in known.subtracting(names) {
        suites.removeValue(forKey: BridgeSubjects.token(name))?.observation.cancel()
      }
      for name in names.subtracting(known) {
        let token = BridgeSubjects.token(name)
        do throws(DefaultsError) {
          let sync = try SuiteSync(name, in: core.group, as: core.machine)
          let observation = try sync.observe { [work = core.work] in work.request(.suite(token)) }
          suites[token] = Suite(sync: sync, observation: observation)
        } catch {
          warnOnce("the settings \(name) do not cross: \(error)")
        }
      }
    }

    private func show(_ events: [SuiteSync.Event], of name: String) {
      for event in events {
        switch event {
        case .received(let revision, let machine, let keys):
          core.say("settings \(name): \(keys) keys of \(machine), revision \(revision)")
        case .sent(let revision, let keys):
          core.say("settings \(name): sent \(keys) keys as revision \(revision)")
        case .conflict(let conflict, let revision):
          core.warn(
            "settings \(name), key \(conflict.key): \(core.machine) and \(conflict.loser) both"
              + " changed it; the later value, of \(core.machine), replaces that of"
              + " \(conflict.loser) in revision \(revision)")
        case .refused(let why): core.warn("the settings \(name) do not cross: \(why)")
        }
      }
    }

    // MARK: Messages

    private func sayConnection() {
      if link.isConnected && notes.isConnected {
        if !saidConnected { core.sayConnected() }
        saidConnected = true
        hasConnected = true
        saidReasons = []
        return
      }
      // None while the first attempt is under way.
      guard let failure = link.failure ?? notes.failure else { return }
      // Ends the bridge.
      if failure.isLasting, !hasConnected { return }
      saidConnected = false
      if saidReasons.count < 16, saidReasons.insert(failure.reason).inserted {
        core.sayDisconnected(failure.reason)
      }
    }

    private func warnOnce(_ text: String) {
      if text != warning { core.warn(text) }
      warning = text
    }
  }

  /// The suites of a group on the server: a bucket of its key-value store.
  struct SuiteBucket: SuiteStore {
    let link: NATSLink
    let name: String
    let identity: UInt64

    private func subject(_ suite: String) -> String {
      "$KV.\(name).\(BridgeSubjects.token(suite))"
    }

    func read(_ suite: String) throws -> (bytes: [UInt8], revision: UInt64)? {
      guard
        let found = try link.newest(
          in: "KV_" + name, subject(suite), atMost: SuiteVersion.maximumBytes)
      else { return nil }
      return (found.bytes, found.sequence)
    }

    func write(_ bytes: [UInt8], to suite: String, over revision: UInt64) throws -> UInt64? {
      try link.store(bytes, in: "KV_" + name, as: subject(suite), over: revision)
    }
  }
#endif
