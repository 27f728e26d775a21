import AppGroup
import Capture
import Confinement
import NotifyCenter
import Platform
import ScreenCast
import SharedLog
import Synchronization

/// A host's part of one session: starts or adopts the roles, keeps them running, and stops them
/// when the session has ended. It runs on its own thread.
final class HostRun: @unchecked Sendable {
  // because one thread runs it, and others use only members with locks

  let session: SessionID
  let board: SessionBoard
  private let presence: RolePresence
  let log: SharedLog
  /// Nil for a host that only ends roles that others started.
  let starter: RoleStarter?
  private let finishTimeout: Duration
  let onEvent: @Sendable (BroadcastEvent) -> Void
  /// Called regularly while the thread works as it should.
  var heartbeat: Heartbeat?
  let wake: Wake
  /// The name of the application that is being passed on.
  let delivery = Delivery()
  private let ended: StopSignal
  /// Raised once somebody requests the end, for work of this thread that takes long.
  private let finishRequested: StopSignal
  /// Raised for a request to finish that cannot be recorded.
  private let unrecordedFinish: StopSignal
  /// How the session ended, or why the ending is not in the record; nil if neither is known.
  private let outcome = Mutex<Result<BroadcastEnding, BroadcastError>?>(nil)

  private var capture: RoleKeeper
  /// The session of the desktop's portal, without which the capture gets no pictures.
  private var portal: ScreenCastSession?
  private var extensionRole: RoleKeeper
  /// The sound captures, kept running beside the picture capture.
  var sound: [SampleBufferType: RoleKeeper] = [:]
  /// The kinds of sound whose captures have failed, and when the running attempt, if there is one,
  /// counts as successful.
  var soundIsBackAt: [SampleBufferType: Deadline] = [:]
  /// The record that events were last derived from.
  private var lastReported: BroadcastRecord?
  /// The deadline of an extension that was asked to finish, or that was killed after that.
  private var finishDeadline = Deadline.never
  private var isKilled = false
  /// How the extension ended that will be restarted.
  private var lostExtension: BroadcastEnding?
  /// When the duration of the session has passed.
  private var sessionEnd: Deadline
  /// When a started extension should have called `BroadcastExtension.run`.
  private var startupDeadline = Deadline.never

  static let label = "broadcast.host"
  /// A program that fails within this time of its start is not restarted: it would fail again.
  private static let startNs: UInt64 = 2_000_000_000
  /// How long a role may take to exit after its broadcast has ended.
  static let exitTimeout = Duration.seconds(5)
  /// How long a started extension may take to call `BroadcastExtension.run`.
  private static let startupTimeout = Duration.seconds(10)

  init(
    _ record: BroadcastRecord, _ board: SessionBoard, _ presence: RolePresence, _ log: SharedLog,
    _ starter: RoleStarter?, _ policy: RestartPolicy, adopting found: FoundRoles?,
    finishTimeout: Duration, onEvent: @escaping @Sendable (BroadcastEvent) -> Void
  ) throws(BroadcastError) {
    session = record.session
    lastReported = record
    sessionEnd = record.options.end
    self.board = board
    self.presence = presence
    self.log = log
    self.starter = starter
    self.finishTimeout = finishTimeout
    self.onEvent = onEvent
    capture = RoleKeeper(.capture, policy, adopting: found?.capture)
    extensionRole = RoleKeeper(.extension, policy, adopting: found?.extensionProcess)
    do throws(SystemError) {
      wake = try Wake()
      ended = try StopSignal()
      unrecordedFinish = try StopSignal()
      finishRequested = try StopSignal()
    } catch { throw .system(error) }
    // An application publishes the pictures.
    if starter?.request.publishedStream != nil { capture.stopRestarting() }
    keepSound(record.sound.streams.keys, adopting: found?.sound ?? [:])
    takeMissingSound(of: record)
  }

  /// Readable once the session has ended and its processes have exited.
  var endedDescriptor: Int32 { ended.descriptorNumber }
  var hasEnded: Bool { ended.isRaised }

  /// How the session ended, once it has.
  /// - Throws: ``BroadcastError/unrecorded(_:why:)``.
  func ending() throws(BroadcastError) -> BroadcastEnding {
    try outcome.withLock { $0 }?.get() ?? .died(signal: nil)
  }

  /// Ends the session as a recorded request to finish would. Safe on any thread.
  func finishUnrecorded() {
    unrecordedFinish.raise()
    finishRequested.raise()
    wake.raise()
  }

  func run() {
    let captured = try? CapturedAnnouncer(in: board.group, as: .host)
    let inhibition = starter?.inhibitsSaver == true ? try? SaverInhibition(log) : nil
    defer {
      inhibition?.end()
      captured?.end()
      portal = nil
      presence.end()
      ended.raise()
    }
    var isRecorded = false
    do throws(BroadcastError) {
      let observation = try board.observe { [wake, finishRequested, board, session] in
        let record = try? board.read()
        if record?.session == session, record?.requested == .finish { finishRequested.raise() }
        wake.raise()
      }
      defer { observation.cancel() }
      let ending = try supervise()
      isRecorded = ending != nil
      outcome.withLock { $0 = ending.map { .success($0) } }
    } catch {
      log.append(.error, "\(error)", label: Self.label)
      isRecorded = conclude(after: error)
    }
    stopRoles(signallingExtension: !isRecorded)
    // Without a record of this session, the extension's exit status is all that is known.
    let hasFinished = extensionRole.takeEnd()?.ending == .finished
    outcome.withLock { if $0 == nil, hasFinished { $0 = .success(.finished) } }
    try? log.flush()
  }

  /// Ends the session after an error, even if nothing can be written, as on a full disk.
  /// - Returns: whether the ending is recorded.
  private func conclude(after error: BroadcastError) -> Bool {
    let failure = BroadcastFailure(domain: "framebus.host", code: 1, reason: "\(error)")
    let ending = (try? outcome.withLock { $0 }?.get()) ?? .failed(failure)
    do throws(BroadcastError) {
      let record = try board.change(session) { $0.end(ending) }
      outcome.withLock { $0 = .success(record?.ending ?? ending) }
      report(record)
      return record != nil
    } catch {
      outcome.withLock { $0 = .failure(.unrecorded(ending, why: error.cause)) }
      onEvent(.finished(ending))
      return false
    }
  }

  // MARK: Until the session has ended

  /// - Returns: how the session ended, from the record; nil if that is now another session's.
  private func supervise() throws(BroadcastError) -> BroadcastEnding? {
    while true {
      heartbeat?.beat()
      do throws(SystemError) { _ = try wake.take() } catch { throw .system(error) }
      let record = try board.read()
      report(record)
      guard let record, record.session == session else { return nil }
      if record.phase == .finished { return record.ending }
      // A request to finish cannot be withdrawn.
      let isFinishing =
        record.requested == .finish || unrecordedFinish.isRaised || finishDeadline != .never
      if isFinishing {
        try finishExtension(record)
      } else {
        // Any member can write the record, so it postpones no end.
        sessionEnd = min(sessionEnd, record.options.end)
      }
      try handleExits()
      if sessionEnd.isPast { requestFinish("the duration of the session has passed") }
      noteSoundThatIsBack()
      deliverApplication(of: record)
      if !isFinishing {
        try startDueRoles()
        warnIfSilent()
      }
      try wait()
    }
  }

  private func finishExtension(_ record: BroadcastRecord) throws(BroadcastError) {
    capture.stopRestarting()
    extensionRole.stopRestarting()
    for type in sound.keys { sound[type]?.stopRestarting() }
    if finishDeadline == .never {
      finishDeadline = .after(finishTimeout)
      startupDeadline = .never
      if unrecordedFinish.isRaised {
        log.append(
          .warning, "the request to finish cannot be recorded: the extension receives SIGTERM",
          label: Self.label)
        extensionRole.process?.send(signal: Signal.terminate)
      }
    }
    guard let process = extensionRole.process else {
      // A clean finish would be in the record.
      return try end(record.attempt == 0 ? .finished : lostExtension ?? .died(signal: nil))
    }
    guard finishDeadline.isPast else { return }
    // The kernel may take a while to end a killed process; do not wait without limit.
    if isKilled { return try end(.died(signal: nil)) }
    log.append(.error, "the extension did not finish in time; sending SIGKILL", label: Self.label)
    guard process.send(signal: Signal.kill) else { return try end(.died(signal: nil)) }
    isKilled = true
    finishDeadline = .after(Self.exitTimeout)
  }

  private func handleExits() throws(BroadcastError) {
    handleSoundExits()
    if let end = capture.takeEnd() {
      // The desktop ends the node with the sharing.
      if case .closed? = portal?.news() { throw .sharingEnded }
      if end.ending == .finished {
        requestFinish("the source has ended")
      } else {
        try lost(&capture, end, ending: .failed(failure(of: .capture, end)))
      }
    }
    if let end = extensionRole.takeEnd() {
      let ending: BroadcastEnding =
        switch end.ending {
        case nil: .died(signal: nil)
        case .killed(let signal)?: .died(signal: signal)
        default: .failed(failure(of: .extension, end))
        }
      // An ending that the extension recorded before it exited takes precedence.
      guard let record = try board.read(), record.phase != .finished else {
        return wake.raise()
      }
      if record.requested == .finish || finishDeadline != .never {
        try self.end(end.ending == .finished ? .finished : ending)
      } else {
        lostExtension = ending
        try lost(&extensionRole, end, ending: ending)
      }
    }
  }

  private func requestFinish(_ why: String) {
    sessionEnd = .never
    log.append(.notice, why, label: Self.label)
    do throws(BroadcastError) {
      try board.change(session) { $0.requested = .finish }
    } catch { finishUnrecorded() }
  }

  /// Plans a restart, or ends the session if the role is not restarted.
  private func lost(
    _ keeper: inout RoleKeeper, _ end: RoleEnd, ending: BroadcastEnding
  ) throws(BroadcastError) {
    let gaveUp =
      switch end.ending {
      case .finished?, .failed?: keeper.livedNs < Self.startNs
      case .killed?, .exceededMemory?, nil: false
      }
    let delay = gaveUp ? nil : keeper.planRestart()
    log.append(
      .error, "the \(keeper.role) \(end.description)", label: Self.label,
      metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
    onEvent(.roleLost(keeper.role, why: end.description, restartsIn: delay))
    if delay == nil { try self.end(ending) }
  }

  private func failure(of role: Role, _ end: RoleEnd) -> BroadcastFailure {
    let code: Int
    switch end.ending {
    case .exceededMemory(let bytes)?:
      return BroadcastFailure(
        domain: "framebus.memory", code: 1,
        reason: "the \(role) exceeded its memory budget of \(bytes >> 20) MiB",
        recovery: "raise memory-limit-mb in its manifest, or send smaller or fewer frames")
    case .finished?: code = 0
    case .failed(let status)?: code = Int(status)
    case .killed?, nil: code = 1
    }
    return BroadcastFailure(
      domain: "framebus.\(role)", code: code, reason: end.description,
      recovery: "framebus log --role \(role)")
  }

  private func startDueRoles() throws(BroadcastError) {
    let keepers = [extensionRole, capture] + sound.values
    guard let starter, keepers.contains(where: \.isDue),
      try starter.updatePluginRegistry(stop: finishRequested)
    else { return }
    if extensionRole.isDue { try startExtension(by: starter) }
    if capture.isDue {
      try startCapture(by: starter)
    }
    startDueSound(by: starter)
  }

  private func startExtension(by starter: RoleStarter) throws(BroadcastError) {
    do throws(BroadcastError) {
      // Before the start, because the process reads it.
      try board.change(session) { $0.beginAttempt() }
      extensionRole.began(try starter.startExtension())
    } catch {
      guard case .camera = error, extensionRole.isRestart,
        let delay = extensionRole.planRestartOfFailedStart()
      else { throw error }
      log.append(.error, "\(error)", label: Self.label)
      return onEvent(.roleLost(.extension, why: "\(error)", restartsIn: delay))
    }
    startupDeadline = .after(Self.startupTimeout)
    try recordStart(extensionRole)
  }

  private func startCapture(by starter: RoleStarter) throws(BroadcastError) {
    do throws(BroadcastError) {
      capture.began(
        try starter.startCapture(
          &portal, isRestart: capture.isRestart, stop: finishRequested))
    } catch {
      if finishRequested.isRaised { return }
      guard case .portal(let why, mayPass: true) = error, capture.isRestart,
        let delay = capture.planRestartOfFailedStart()
      else { throw error }
      log.append(.error, "the desktop grants no pictures yet: \(why)", label: Self.label)
      return onEvent(.roleLost(.capture, why: why, restartsIn: delay))
    }
    try recordStart(capture)
  }

  private func recordStart(_ keeper: RoleKeeper) throws(BroadcastError) {
    guard let process = keeper.process else { return }
    log.append(.info, "started the \(keeper.role), process \(process.pid)", label: Self.label)
    try board.change(session) { $0.confinement[keeper.role] = process.confinement }
    if keeper.isRestart { return onEvent(.roleRestarted(keeper.role)) }
    if let how = process.confinement, how != "on", starter?.request.isConfined == true {
      onEvent(.confinedInPart(keeper.role, how))
    }
  }

  /// Warns once about an extension that has not called `BroadcastExtension.run`: such a program
  /// reports nothing itself.
  private func warnIfSilent() {
    guard startupDeadline.isPast, let starter else { return }
    startupDeadline = .never
    guard extensionRole.process != nil, RolePresence.find(.extension, in: board.group) == nil else {
      return
    }
    let program = starter.extensionProgram
    log.append(
      .warning, "\(program) runs as the extension, but has not called BroadcastExtension.run",
      label: Self.label)
    onEvent(.roleSilent(.extension, program: program))
  }

  private func end(_ ending: BroadcastEnding) throws(BroadcastError) {
    // Kept even if it cannot be recorded.
    outcome.withLock { $0 = .success(ending) }
    try board.change(session) { $0.end(ending) }
    wake.raise()
  }

  private func wait() throws(BroadcastError) {
    let keepers = [capture, extensionRole] + sound.values
    let deadlines =
      keepers.map(\.startsAt) + [finishDeadline, startupDeadline, sessionEnd]
      + soundIsBackAt.values + (heartbeat.map { [Deadline.after($0.interval)] } ?? [])
    do throws(SystemError) {
      _ = try waitUntilReadable(
        [wake.signal.descriptorNumber] + keepers.compactMap(\.process?.descriptorNumber),
        until: deadlines.min() ?? .never)
    } catch { throw .system(error) }
  }

  // MARK: After the end

  private func stopRoles(signallingExtension signalsExtension: Bool) {
    let deadline = Deadline.after(Self.exitTimeout)
    // The extension exits when it reads the record; captures do not read it.
    if signalsExtension { extensionRole.process?.send(signal: Signal.terminate) }
    let captures = ([capture] + sound.values).compactMap(\.process)
    for process in captures { process.send(signal: Signal.terminate) }
    let left = ([extensionRole.process].compactMap(\.self) + captures)
      .filter { !$0.stops(killAt: deadline) }
    for process in left {
      log.append(
        .error, "process \(process.pid) is still running; end it as its user", label: Self.label)
    }
    starter?.removeUnwritten()
    starter?.removeSetup()
    if left.isEmpty {
      log.append(.notice, "all roles have exited", label: Self.label)
      try? board.restoreSound()
    }
    // The host that created the files of adopted roles is gone.
    Launcher.removeLeftovers()
  }

  /// Emits events for changes of the record.
  func report(_ record: BroadcastRecord?) {
    let before = lastReported
    defer { lastReported = record }
    guard let record, record.session == session, record != before else { return }
    reportSound(record.unheardSound, since: before?.unheardSound ?? [:])
    if record.phase == .finished {
      onEvent(.finished(record.ending ?? .died(signal: nil)))
    } else if record.pauses != lastReported?.pauses, !record.pauses.isEmpty {
      onEvent(.paused(record.pauses))
    } else if record.phase == .live, lastReported?.phase == .paused {
      onEvent(.resumed)
    } else if record.phase == .live, lastReported?.phase != .live {
      onEvent(.live)
    } else if record.phase == .connecting,
      lastReported?.phase != .connecting
        || lastReported?.connectionFailure != record.connectionFailure
    {
      onEvent(.connecting(failure: record.connectionFailure))
    }
  }
}
