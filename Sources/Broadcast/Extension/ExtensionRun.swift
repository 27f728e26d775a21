import AppGroup
import Capture
import FrameBus
import NotifyCenter
import Platform
import SharedLog
import Sound
import Upload

/// One run of an extension's process: passes changes of the record, and samples of the streams, to
/// the handler, one call at a time.
final class ExtensionRun: @unchecked Sendable {
  // because one thread runs it, and `stop()`, which others call, uses only members with locks

  private let handler: BroadcastSampleHandler
  /// The handler, if it has work while no sample arrives.
  private let idler: (any IdleHandler)?
  private let setup: SetupInfo
  private let sources: SampleSources
  private let board: SessionBoard
  private let wake: Wake
  private let stopping: StopSignal
  private var pauses: Set<BroadcastPause> = []
  private var application = ""
  private var reportedFront: ApplicationID?
  /// The kinds of samples that an application publishes, instead of a capture.
  private var published: Set<SampleBufferType> = []
  /// The switch of sound that an application publishes: captures follow theirs themselves.
  private var publishedSound: SwitchedSound?
  /// Why the leading stream, which an application publishes, was never received.
  private var awaited: String?
  /// The last logged generation of each stream.
  private var loggedGenerations: [SampleBufferType: UInt64] = [:]
  /// Whether the leading stream has delivered.
  private var hasCapture = false
  /// Whether the handler has processed a sample.
  private var hasProcessed = false
  /// The connection's state in the record.
  private var writtenConnection = BroadcastConnection.State.unreported
  private var writtenRefusals: [String: String] = [:]
  private var writtenDestinations: [DestinationFigures] = []
  private var throttle = SampleThrottle()
  /// Whether the last change of the record could not be written.
  private var isRecordBehind = false

  private static let label = "broadcast.extension"

  init(
    _ handler: BroadcastSampleHandler, _ setup: SetupInfo, _ sources: SampleSources
  ) throws {
    self.handler = handler
    idler = handler as? any IdleHandler
    self.setup = setup
    self.sources = sources
    board = try SessionBoard(setup.group, as: .extension)
    wake = try Wake()
    stopping = try StopSignal()
    handler.exit.connect(wake)
    handler.connection.connect(wake)
  }

  /// Finishes the run as if the host had requested it. Safe on any thread.
  func stop() {
    stopping.raise()
    wake.raise()
  }

  /// Runs until the broadcast ends. The ending is in the record when this returns.
  func run() throws -> BroadcastEnding {
    guard let presence = try RolePresence(.extension, in: setup.group, waiting: true) else {
      throw BroadcastError.roleTaken(.extension)
    }
    let captured = try? CapturedAnnouncer(in: setup.group, as: .extension)
    defer { captured?.end() }
    let wake = wake
    let observation = try board.observe { wake.raise() }
    defer { observation.cancel() }
    let ending: BroadcastEnding
    do throws(BroadcastFailure) {
      ending = try deliver()
    } catch {
      ending = .failed(error)
    }
    setup.log.append(
      ending == .finished ? .notice : .error, "the broadcast \(ending)", label: Self.label)
    writeDestinations()
    try change { $0.end(ending) }
    return withExtendedLifetime(presence) { ending }
  }

  private func deliver() throws(BroadcastFailure) -> BroadcastEnding {
    guard let record = try record(), record.phase != .finished else { return .finished }
    setup.log.append(.notice, "started, attempt \(record.attempt)", label: Self.label)
    if BroadcastRequest.publishedStream(of: record.source) != nil {
      published = [.video, .audioApp]
    }
    if !published.isEmpty, sources.streams[.audioApp] != nil {
      publishedSound = try attempt { try SwitchedSound(.appAudio, in: setup.group) }
    }
    try handler.broadcastStarted(setupInfo: setup.forAttempt(record.attempt))
    let acceptedFromNs = record.requested == .pause ? nil : record.resumedAtNs
    var streams = try attempt {
      try SampleStreams(
        sources, published: published, in: setup.group, wake, acceptingFromNs: acceptedFromNs)
    }
    // Handles changes made before the observation started.
    wake.raise()
    while true {
      if let ending = try applyRequests(&streams) { return ending }
      if pauses.contains(.requested) {
        _ = try? waitUntilReadable([wake.signal.descriptorNumber], until: .never)
        continue
      }
      switch try streams.next(until: idleDeadline) {
      case .sample(var sample, let type):
        try handle(streams.takeEvents())
        // Sound continues while the picture capture is lost, but a paused broadcast delivers none.
        let isDelivered = pauses.isEmpty || type == sources.inOrder.first?.type
        let isOn = type != .audioApp || publishedSound?.isOn != false
        if isDelivered, isOn, let withheld = throttle.count(type, setup.log) {
          sample.withheldBefore = withheld
          try handler.processSampleBuffer(sample, type: type)
          try markProcessed()
        }
      case .ended(let type):
        setup.log.append(.notice, "no more \(type.rawValue)", label: Self.label)
        if type == sources.inOrder.first?.type { return finished() }
      case .nothing: break
      }
      try handle(streams.takeEvents())
      if idleDeadline.isPast { try idler?.workWhileIdle() }
    }
  }

  private var idleDeadline: Deadline { pauses.isEmpty ? idler?.worksAt ?? .never : .never }

  /// Handles a signal, a failure of the handler and requests of the host.
  /// - Returns: how the broadcast ended; nil if it continues.
  private func applyRequests(
    _ streams: inout SampleStreams
  ) throws(BroadcastFailure) -> BroadcastEnding? {
    if let failure = handler.exit.failure { return .failed(failure) }
    guard try attempt({ try wake.take() }) else { return nil }
    if stopping.isRaised { return finished() }
    let connection = handler.connection
    if isRecordBehind || connection.state != writtenConnection
      || connection.refusedSettings != writtenRefusals
    {
      try writePhase()
    }
    writeDestinations()
    guard let record = try record(), record.requested != .finish, record.phase != .finished else {
      return finished()
    }
    if record.application != application {
      application = record.application
      // Checked, because any publishing member can write the record.
      if let name = ApplicationID(application) {
        try handler.broadcastAnnotated(applicationInfo: ApplicationInfo(applicationID: name.text))
      }
    }
    var newPauses = pauses
    if record.requested == .pause {
      newPauses.insert(.requested)
      streams.detach()
    } else {
      newPauses.remove(.requested)
    }
    try setPauses(newPauses)
    return nil
  }

  /// Writes the pictures' new front application into the record, whose change calls the handler. A
  /// later one, or the host's, replaces it.
  private func annotate(_ application: ApplicationID?) throws(BroadcastFailure) {
    guard let application, application != reportedFront else { return }
    reportedFront = application
    try change { $0.application = application.text }
    wake.raise()
  }

  private func finished() -> BroadcastEnding {
    handler.broadcastFinished()
    // A failure reported by `broadcastFinished()` counts.
    return handler.exit.failure.map { .failed($0) } ?? .finished
  }

  private func handle(_ events: [SampleStreams.Event]) throws(BroadcastFailure) {
    let leading = sources.inOrder.first?.type
    for item in events {
      var newPauses = pauses
      switch item {
      case .missing(let type, let why):
        guard published.contains(type) else { continue }
        if type != leading {
          try change { $0.missingSound[type] = why }
        } else if !hasCapture {
          awaited = why
          if pauses.isEmpty { try writePhase() }
        }
      case .lost(let type):
        if type == leading {
          newPauses.insert(.captureLost)
        } else if published.contains(type), let stream = sources.streams[type] {
          try change { $0.missingSound[type] = "nobody publishes the stream \(stream) any more" }
        }
      case .back(let type, let generation):
        if type == leading {
          newPauses.subtract([.captureLost, .transition, .unavailable])
          try markCaptured()
        }
        if loggedGenerations.updateValue(generation, forKey: type) != generation {
          setup.log.append(
            .info, "receiving \(type.rawValue), generation \(generation)", label: Self.label,
            metadata: publisherFields(of: type))
        }
        if type != leading, published.contains(type) {
          try change { $0.missingSound[type] = nil }
        }
      case .paused(let reason):
        // A stream has one reason at a time.
        newPauses.subtract([.transition, .unavailable])
        newPauses.insert(reason == .transition ? .transition : .unavailable)
      case .resumed: newPauses.subtract([.transition, .unavailable])
      case .annotated(let application): try annotate(application)
      }
      try setPauses(newPauses)
    }
  }

  /// Who publishes a stream instead of a capture, for the log: any member may that is allowed to.
  private func publisherFields(of type: SampleBufferType) -> [LogField] {
    guard published.contains(type), let stream = sources.streams[type],
      let process = RolePresence.publisher(of: stream, in: setup.group)
    else { return [] }
    let (pid, uid) = (process.credentials.pid, process.credentials.uid)
    return [LogField("publisher", "process \(pid) of user \(uid)")]
  }

  /// The leading stream delivers for the first time: a connection's state is shown from here on.
  private func markCaptured() throws(BroadcastFailure) {
    if hasCapture { return }
    hasCapture = true
    if pauses.isEmpty { try writePhase() }
  }

  /// The handler has processed its first sample: without another report, the broadcast is live.
  private func markProcessed() throws(BroadcastFailure) {
    if hasProcessed { return }
    hasProcessed = true
    if pauses.isEmpty { try writePhase() }
  }

  /// Reports to the handler, and in the record, that samples pause or resume.
  private func setPauses(_ newPauses: Set<BroadcastPause>) throws(BroadcastFailure) {
    guard newPauses != pauses else { return }
    pauses = newPauses
    let reasons = newPauses.sorted()
    if reasons.isEmpty {
      setup.log.append(.notice, "resumed", label: Self.label)
      try handler.broadcastResumed()
    } else {
      let texts = reasons.map(\.explanation).joined(separator: "; ")
      setup.log.append(.notice, "paused: \(texts)", label: Self.label)
      try handler.broadcastPaused(for: reasons)
    }
    try writePhase()
  }

  private func writePhase() throws(BroadcastFailure) {
    let reasons = pauses.sorted()
    let connection = handler.connection.state
    writtenConnection = connection
    let refusals = handler.connection.refusedSettings
    writtenRefusals = refusals
    let phase = reasons.isEmpty ? activePhase(connection) : .paused
    var failure = ""
    if case .connecting(let text) = connection { failure = text }
    if !hasCapture, let awaited { failure = awaited }
    try change { record in
      record.pauses = reasons
      record.phase = phase
      record.connectionFailure = failure
      record.refusedSettings = refusals
    }
  }

  /// If they cannot be written, the next ones may be.
  private func writeDestinations() {
    let figures = handler.connection.destinations
    if figures == writtenDestinations { return }
    writtenDestinations = figures
    try? board.setDestinations(DestinationList(figures, of: setup.session))
  }

  /// The phase of a broadcast that is not paused.
  private func activePhase(_ connection: BroadcastConnection.State) -> BroadcastPhase {
    if !hasCapture { return awaited == nil ? .starting : .connecting }
    return switch connection {
    case .unreported: hasProcessed ? .live : .starting
    case .connecting: .connecting
    case .live: .live
    }
  }

  // MARK: The record

  private func record() throws(BroadcastFailure) -> BroadcastRecord? {
    let record = try attempt { try board.read() }
    return record?.session == setup.session ? record : nil
  }

  /// Changes the record. If it cannot be written, as on a full disk, the broadcast continues, and
  /// the next change by any process triggers another attempt.
  private func change(_ body: (inout BroadcastRecord) -> Void) throws(BroadcastFailure) {
    do throws(BroadcastError) {
      try board.change(setup.session) { record in
        if record.phase != .finished { body(&record) }
      }
      isRecordBehind = false
    } catch {
      guard case .settings = error else { throw Self.failure(error) }
      if !isRecordBehind {
        setup.log.append(
          .warning, "the broadcast record is out of date: \(error)", label: Self.label)
      }
      isRecordBehind = true
    }
  }

  /// Turns any error into a failure of the broadcast.
  private func attempt<Value: ~Copyable>(
    _ body: () throws -> Value
  ) throws(BroadcastFailure) -> Value {
    do { return try body() } catch { throw Self.failure(error) }
  }

  private static func failure(_ error: any Error) -> BroadcastFailure {
    BroadcastFailure(domain: "framebus.broadcast", code: 1, reason: "\(error)")
  }
}

extension SetupInfo {
  fileprivate func forAttempt(_ attempt: Int) -> SetupInfo {
    var setup = self
    setup.attempt = attempt
    return setup
  }
}
