import AppGroup
import Confinement
import NotifyCenter
import Platform
import SharedLog
import Synchronization

/// A host's part of one session: starts the roles, or takes over those that run, keeps them alive,
/// and stops them when the session has ended. It runs on a thread of its own.
final class HostRun: @unchecked Sendable {
  // because one thread runs it, and others use only what has locks of its own

  let session: SessionID
  private let board: SessionBoard
  private let presence: RolePresence
  private let log: SharedLog
  /// Nil for a host that only ends what others started.
  private let starter: RoleStarter?
  private let finishWithin: Duration
  private let onEvent: @Sendable (BroadcastEvent) -> Void
  private let wake: Wake
  private let ended: StopSignal
  /// Raised for a wish to finish that cannot be written down.
  private let unrecordedWish: StopSignal
  private let outcome = Mutex(Outcome())

  private var capture: RoleKeeper
  private var uploader: RoleKeeper
  private var sound: SoundCaptures
  private var told: BroadcastRecord?
  /// When an extension that was asked to finish, or then was killed, has had its time.
  private var finishesBy = Deadline.never
  private var isKilled = false
  /// How the extension ended that is to be started again.
  private var lostExtension: BroadcastEnding?
  /// When an extension that was started should be there.
  private var showsUpBy = Deadline.never

  private struct Outcome {
    var ending: BroadcastEnding?
    /// Why that is not in the record.
    var unrecorded: String?
  }

  private static let label = "broadcast.host"
  /// A program that gives up so soon after its start will do so again.
  private static let startNs: UInt64 = 2_000_000_000
  /// How long a role may take to end once its broadcast has.
  static let endWithin = Duration.seconds(5)
  /// How long an extension's program may take to begin.
  private static let showsUpWithin = Duration.seconds(10)

  init(
    _ record: BroadcastRecord, _ board: SessionBoard, _ presence: RolePresence, _ log: SharedLog,
    _ starter: RoleStarter?, _ policy: RestartPolicy, adopting found: FoundRoles,
    finishWithin: Duration, onEvent: @escaping @Sendable (BroadcastEvent) -> Void
  ) throws(BroadcastError) {
    session = record.session
    told = record
    self.board = board
    self.presence = presence
    self.log = log
    self.starter = starter
    self.finishWithin = finishWithin
    self.onEvent = onEvent
    capture = RoleKeeper(.capture, policy, adopting: found.capture)
    uploader = RoleKeeper(.extension, policy, adopting: found.uploader ?? found.silent)
    sound = SoundCaptures(of: record.sound.inOrder.map(\.type), adopting: found.sound, log)
    do throws(SystemError) {
      wake = try Wake()
      ended = try StopSignal()
      unrecordedWish = try StopSignal()
    } catch { throw .system(error) }
  }

  /// Readable once the session has ended and its processes with it.
  var endedDescriptor: Int32 { ended.descriptorNumber }
  var hasEnded: Bool { ended.isRaised }

  /// How the session ended, once it has.
  /// - Throws: ``BroadcastError/unrecorded(_:why:)``.
  func ending() throws(BroadcastError) -> BroadcastEnding {
    let outcome = outcome.withLock { $0 }
    if let why = outcome.unrecorded { throw .unrecorded(outcome.ending, why: why) }
    return outcome.ending ?? .died(signal: nil)
  }

  /// Ends the session as the wish to finish does, though it cannot be written down. From any
  /// thread.
  func finishUnrecorded() {
    unrecordedWish.raise()
    wake.raise()
  }

  func run() {
    defer {
      presence.end()
      ended.raise()
    }
    var isRecorded = false
    do throws(BroadcastError) {
      let wake = wake
      let observation = try board.observe { wake.raise() }
      defer { observation.cancel() }
      let ending = try supervise()
      isRecorded = ending != nil
      outcome.withLock { $0.ending = ending }
    } catch {
      log.append(.error, "\(error)", label: Self.label)
      isRecorded = conclude(after: error)
    }
    stopRoles(tellingExtension: !isRecorded)
    // Of a session whose record has gone, how the extension ended is all that tells.
    let hasFinished = uploader.takeEnd()?.status?.isSuccess == true
    outcome.withLock { if $0.ending == nil, hasFinished { $0.ending = .finished } }
    try? log.flush()
  }

  /// What is shown ends all the same where nothing can be written, as on a full disk.
  /// - Returns: whether the record tells of it.
  private func conclude(after error: BroadcastError) -> Bool {
    let failure = BroadcastFailure(domain: "framebus.host", code: 1, reason: "\(error)")
    let ending = outcome.withLock { $0.ending } ?? .failed(failure)
    do throws(BroadcastError) {
      let record = try board.change(session) { $0.end(ending) }
      outcome.withLock { $0.ending = record?.ending ?? ending }
      tell(record)
      return record != nil
    } catch {
      outcome.withLock { $0 = Outcome(ending: ending, unrecorded: error.cause) }
      onEvent(.finished(ending))
      return false
    }
  }

  // MARK: Until the session has ended

  /// - Returns: how it ended, by the record; nil if that is the session's no more.
  private func supervise() throws(BroadcastError) -> BroadcastEnding? {
    while true {
      do throws(SystemError) { _ = try wake.take() } catch { throw .system(error) }
      let record = try board.read()
      tell(record)
      guard let record, record.session == session else { return nil }
      if record.phase == .finished { return record.ending }
      // Nobody takes the wish to finish back.
      let isFinishing =
        record.wish == .finish || unrecordedWish.isRaised || finishesBy != .never
      if isFinishing { try bringToFinish(record) }
      try noticeEnds()
      if !isFinishing {
        try startWhatIsDue()
        noticeSilence()
      }
      try wait()
    }
  }

  private func bringToFinish(_ record: BroadcastRecord) throws(BroadcastError) {
    capture.giveUp()
    uploader.giveUp()
    sound.giveUp()
    if finishesBy == .never {
      finishesBy = .after(finishWithin)
      showsUpBy = .never
      if unrecordedWish.isRaised {
        log.append(
          .warning, "the wish to finish cannot be written down: the extension gets SIGTERM",
          label: Self.label)
        uploader.process?.send(signal: Signal.terminate)
      }
    }
    guard let process = uploader.process else {
      // One that had finished would have said so itself.
      return try end(record.attempt == 0 ? .finished : lostExtension ?? .died(signal: nil))
    }
    guard finishesBy.isPast else { return }
    // The kernel may take its time to end what was killed, but not for ever.
    if isKilled { return try end(.died(signal: nil)) }
    log.append(.error, "the extension did not finish in time", label: Self.label)
    guard process.send(signal: Signal.kill) else { return try end(.died(signal: nil)) }
    isKilled = true
    finishesBy = .after(Self.endWithin)
  }

  private func noticeEnds() throws(BroadcastError) {
    sound.noticeEnds()
    if let end = capture.takeEnd() {
      if end.status?.isSuccess == true {
        log.append(.notice, "the source has no more", label: Self.label)
        do throws(BroadcastError) {
          try board.change(session) { $0.wish = .finish }
        } catch { finishUnrecorded() }
      } else {
        try lost(&capture, end, ending: .failed(failure(of: .capture, end)))
      }
    }
    if let end = uploader.takeEnd() {
      let died = end.exceededBytes == nil && (end.status == nil || end.signal != nil)
      let ending: BroadcastEnding =
        died ? .died(signal: end.signal) : .failed(failure(of: .extension, end))
      // What it said itself before it ended counts.
      guard let record = try board.read(), record.phase != .finished else {
        return wake.raise()
      }
      if record.wish == .finish || finishesBy != .never {
        try self.end(end.status?.isSuccess == true ? .finished : ending)
      } else {
        lostExtension = ending
        try lost(&uploader, end, ending: ending)
      }
    }
  }

  /// Plans a restart, or ends the session where there is none.
  private func lost(
    _ keeper: inout RoleKeeper, _ end: RoleEnd, ending: BroadcastEnding
  ) throws(BroadcastError) {
    let gaveUp = end.signal == nil && end.status != nil && end.exceededBytes == nil
    let gaveUpAtStart = gaveUp && keeper.livedNs < Self.startNs
    let delay = gaveUpAtStart ? nil : keeper.planRestart()
    log.append(
      .error, "the \(keeper.role) \(end.description)", label: Self.label,
      metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
    onEvent(.roleLost(keeper.role, why: end.description, restartsIn: delay))
    if delay == nil { try self.end(ending) }
  }

  private func failure(of role: Role, _ end: RoleEnd) -> BroadcastFailure {
    if let bytes = end.exceededBytes {
      return BroadcastFailure(
        domain: "framebus.memory", code: 1,
        reason: "the \(role) took more memory than its budget of \(bytes >> 20) MiB",
        recovery: "raise memory-limit-mb in its manifest, or send smaller or fewer frames")
    }
    var code = 1
    if case .exited(let status)? = end.status { code = Int(status) }
    return BroadcastFailure(
      domain: "framebus.\(role)", code: code, reason: end.description,
      recovery: "framebus log --role \(role)")
  }

  private func startWhatIsDue() throws(BroadcastError) {
    guard let starter else { return }
    if uploader.isDue {
      // First, because the process reads it.
      try board.change(session) { $0.beginAttempt() }
      uploader.began(try starter.startExtension())
      showsUpBy = .after(Self.showsUpWithin)
      try noteStart(uploader)
    }
    if capture.isDue {
      capture.began(try starter.startCapture())
      try noteStart(capture)
    }
    sound.startWhatIsDue(by: starter)
  }

  private func noteStart(_ keeper: RoleKeeper) throws(BroadcastError) {
    guard let process = keeper.process else { return }
    log.append(.info, "started the \(keeper.role), process \(process.pid)", label: Self.label)
    try board.change(session) { $0.confinement[keeper.role] = process.confinement }
    if keeper.isRestart { onEvent(.roleRestarted(keeper.role)) }
  }

  /// Says once of an extension that has not begun what it may lack: nothing else would ever tell.
  private func noticeSilence() {
    guard showsUpBy.isPast, let starter else { return }
    showsUpBy = .never
    guard uploader.process != nil, RolePresence.find(.extension, in: board.group) == nil else {
      return
    }
    let program = starter.extensionProgram
    log.append(
      .warning, "\(program) runs as the extension, and has not called BroadcastExtension.run",
      label: Self.label)
    onEvent(.roleSilent(.extension, program: program))
  }

  private func end(_ ending: BroadcastEnding) throws(BroadcastError) {
    // Also if that cannot be written down.
    outcome.withLock { $0.ending = ending }
    try board.change(session) { $0.end(ending) }
    wake.raise()
  }

  private func wait() throws(BroadcastError) {
    let processes = ([capture.process, uploader.process].compactMap(\.self) + sound.processes)
      .map(\.descriptorNumber)
    do throws(SystemError) {
      _ = try waitUntilReadable(
        [wake.signal.descriptorNumber] + processes,
        until: [capture.startsAt, uploader.startsAt, sound.startsAt, finishesBy, showsUpBy].min()
          ?? .never)
    } catch { throw .system(error) }
  }

  // MARK: Afterwards

  private func stopRoles(tellingExtension isUntold: Bool) {
    let deadline = Deadline.after(Self.endWithin)
    // By the record, the extension ends by itself; captures have to be told.
    if isUntold { uploader.process?.send(signal: Signal.terminate) }
    let captures = [capture.process].compactMap(\.self) + sound.processes
    for process in captures { process.send(signal: Signal.terminate) }
    let left = ([uploader.process].compactMap(\.self) + captures)
      .filter { !$0.stops(killAt: deadline) }
    for process in left {
      log.append(.error, "process \(process.pid) goes on: end it as its user", label: Self.label)
    }
    starter?.removeUnwritten()
    if left.isEmpty { log.append(.notice, "every role has ended", label: Self.label) }
    // Those of adopted roles were made by a host that is gone.
    Launcher.removeLeftovers()
  }

  /// Tells the host what is new in the record.
  private func tell(_ record: BroadcastRecord?) {
    defer { told = record }
    guard let record, record.session == session, record != told else { return }
    if record.phase == .finished {
      onEvent(.finished(record.ending ?? .died(signal: nil)))
    } else if record.pauses != told?.pauses, !record.pauses.isEmpty {
      onEvent(.paused(record.pauses))
    } else if record.phase == .live, told?.phase == .paused {
      onEvent(.resumed)
    } else if record.phase == .live, told?.phase == .starting {
      onEvent(.live)
    }
  }
}

/// The processes of a session that a new host meets.
struct FoundRoles {
  let capture: PeerProcess?
  let uploader: PeerProcess?
  /// What was started as the extension and is not there as one.
  let silent: PeerProcess?
  /// Without the others, they are no session.
  let sound: [SampleBufferType: PeerProcess]

  static let none = FoundRoles(capture: nil, uploader: nil, silent: nil, sound: [:])

  var isEmpty: Bool { capture == nil && uploader == nil }

  var processes: [RoleProcess] {
    ([capture, uploader, silent].compactMap(\.self) + sound.values).map { .adopted($0) }
  }
}
