import AppGroup
import FrameBus
import FrontApplication
import NotifyCenter
import Platform
import SharedLog

/// One life of an extension's process: brings what the record says, and what the streams bring, to
/// the handler, one call after the other.
final class ExtensionRun: @unchecked Sendable {
  // because one thread runs it, and `stop()`, for others, touches only what has locks of its own

  private let handler: BroadcastSampleHandler
  /// The handler, if it has something to do while no sample comes.
  private let idler: (any IdleHandler)?
  private let setup: SetupInfo
  private let sources: SampleSources
  private let board: SessionBoard
  /// What the capture of the pictures tells; nil without pictures.
  private let front: FrontApplication?
  private let wake: Wake
  private let stopping: StopSignal
  private var pauses: Set<BroadcastPause> = []
  private var application = ""
  private var toldFront: ApplicationID?
  /// Of each stream, the one that the log has last.
  private var loggedGenerations: [SampleBufferType: UInt64] = [:]
  /// Whether the leading stream has come.
  private var hasCapture = false
  private var thrift = MemoryThrift()
  /// Whether the record lacks what was to be written last.
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
    front = try sources.streams[.video].map { try FrontApplication(of: $0, in: setup.group) }
    wake = try Wake()
    stopping = try StopSignal()
    handler.exit.connect(wake)
  }

  /// Has the run finish as if the host asked for it. From any thread.
  func stop() {
    stopping.raise()
    wake.raise()
  }

  /// Runs to the end, which is in the record when this returns.
  func run() throws -> BroadcastEnding {
    guard let presence = try RolePresence(.extension, in: setup.group, waiting: true) else {
      throw BroadcastError.roleTaken(.extension)
    }
    let wake = wake
    let observation = try board.observe { wake.raise() }
    defer { observation.cancel() }
    let lookout = try front?.observe { wake.raise() }
    defer { lookout?.cancel() }
    let ending: BroadcastEnding
    do throws(BroadcastFailure) {
      ending = try deliver()
    } catch {
      ending = .failed(error)
    }
    setup.log.append(
      ending == .finished ? .notice : .error, "the broadcast \(ending)", label: Self.label)
    try change { $0.end(ending) }
    return withExtendedLifetime(presence) { ending }
  }

  private func deliver() throws(BroadcastFailure) -> BroadcastEnding {
    guard let record = try record(), record.phase != .finished else { return .finished }
    setup.log.append(.notice, "started, attempt \(record.attempt)", label: Self.label)
    try handler.broadcastStarted(setupInfo: setup.startedAgain(record.attempt))
    var streams = try attempt { try SampleStreams(sources, in: setup.group, wake) }
    // The first look is at what was changed before anybody observed.
    wake.raise()
    while true {
      if let ending = try obey(&streams) { return ending }
      if pauses.contains(.requested) {
        _ = try? waitUntilReadable([wake.signal.descriptorNumber], until: .never)
        continue
      }
      switch try streams.next(until: idleDeadline) {
      case .sample(var sample, let type):
        try hear(streams.takeNews())
        // Sound goes on while the pictures are lost, and is no sample of a paused broadcast.
        let isHeard = pauses.isEmpty || type == sources.inOrder.first?.type
        if isHeard, let withheld = thrift.count(type, setup.log) {
          sample.withheldBefore = withheld
          try handler.processSampleBuffer(sample, type: type)
        }
      case .ended(let type):
        setup.log.append(.notice, "no more \(type.rawValue)", label: Self.label)
        if type == sources.inOrder.first?.type { return finished() }
      case .nothing: break
      }
      try hear(streams.takeNews())
      if idleDeadline.isPast { try idler?.workWhileIdle() }
    }
  }

  private var idleDeadline: Deadline { pauses.isEmpty ? idler?.worksAt ?? .never : .never }

  /// Does what the host, the handler or a signal wants.
  /// - Returns: how the broadcast ended, if it did.
  private func obey(_ streams: inout SampleStreams) throws(BroadcastFailure) -> BroadcastEnding? {
    if let failure = handler.exit.failure { return .failed(failure) }
    guard try attempt({ try wake.take() }) else { return nil }
    if stopping.isRaised { return finished() }
    try annotateFront()
    if isRecordBehind { try writePhase() }
    guard let record = try record(), record.wish != .finish, record.phase != .finished else {
      return finished()
    }
    if record.application != application {
      application = record.application
      // Any member can write it.
      if let name = ApplicationID(application) {
        try handler.broadcastAnnotated(applicationInfo: ApplicationInfo(applicationID: name.text))
      }
    }
    var wanted = pauses
    if record.wish == .pause {
      wanted.insert(.requested)
      streams.detach()
    } else {
      wanted.remove(.requested)
    }
    try setPauses(wanted)
    return nil
  }

  /// Has the record name what came to the front, until it is another, or the host names one.
  private func annotateFront() throws(BroadcastFailure) {
    guard let now = front?.current, now != toldFront else { return }
    toldFront = now
    try change { $0.application = now.text }
  }

  private func finished() -> BroadcastEnding {
    handler.broadcastFinished()
    // The handler's last word counts.
    return handler.exit.failure.map { .failed($0) } ?? .finished
  }

  private func hear(_ news: [SampleStreams.News]) throws(BroadcastFailure) {
    let leading = sources.inOrder.first?.type
    for item in news {
      var wanted = pauses
      switch item {
      case .lost(let type):
        if type == leading { wanted.insert(.captureLost) }
      case .back(let type, let generation):
        if type == leading {
          wanted.subtract([.captureLost, .transition, .unavailable])
          try noteCapture()
        }
        if loggedGenerations.updateValue(generation, forKey: type) != generation {
          setup.log.append(
            .info, "\(type.rawValue) comes, generation \(generation)", label: Self.label)
        }
      case .paused(.transition): wanted.insert(.transition)
      case .paused: wanted.insert(.unavailable)
      case .resumed: wanted.subtract([.transition, .unavailable])
      }
      try setPauses(wanted)
    }
  }

  /// From the first time that the leading stream comes, the broadcast is live.
  private func noteCapture() throws(BroadcastFailure) {
    if hasCapture { return }
    hasCapture = true
    if pauses.isEmpty { try writePhase() }
  }

  /// Tells the handler and everybody else that samples stop or come again.
  private func setPauses(_ wanted: Set<BroadcastPause>) throws(BroadcastFailure) {
    guard wanted != pauses else { return }
    let wasPaused = !pauses.isEmpty
    pauses = wanted
    let reasons = wanted.sorted()
    if !wasPaused {
      setup.log.append(.notice, "paused: \(reasons)", label: Self.label)
      try handler.broadcastPaused(for: reasons)
    } else if wanted.isEmpty {
      setup.log.append(.notice, "resumed", label: Self.label)
      try handler.broadcastResumed()
    }
    try writePhase()
  }

  private func writePhase() throws(BroadcastFailure) {
    let reasons = pauses.sorted()
    let phase: BroadcastPhase = reasons.isEmpty ? hasCapture ? .live : .starting : .paused
    try change { record in
      record.pauses = reasons
      record.phase = phase
    }
  }

  // MARK: The record

  private func record() throws(BroadcastFailure) -> BroadcastRecord? {
    let record = try attempt { try board.read() }
    return record?.session == setup.session ? record : nil
  }

  /// What goes out goes on where nothing can be written, as on a full disk: the next change that
  /// another process makes has it written too.
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
          .warning, "the broadcast's record is not up to date: \(error)", label: Self.label)
      }
      isRecordBehind = true
    }
  }

  /// What keeps the extension from working is a failure of the broadcast.
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
  fileprivate func startedAgain(_ attempt: Int) -> SetupInfo {
    SetupInfo(
      group: group, session: session, extensionID: extensionID, attempt: attempt,
      samples: samples, settings: settings, credentials: credentials, log: log)
  }
}
