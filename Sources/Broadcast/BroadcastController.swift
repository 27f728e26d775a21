import AppGroup
import Confinement
import CredentialStore
import FrameBus
import FrontApplication
import Platform
import SharedLog
import Sound
import Synchronization

/// The host's side of a broadcast: starts it, pauses it, ends it, and is told what becomes of it.
///
/// The process that starts a session supervises it. Any other host's controller can pause, resume
/// and finish it too, and one that comes when the supervising host has died takes the session over.
public final class BroadcastController: Sendable {
  public let group: AppGroup
  let board: SessionBoard
  let onEvent: @Sendable (BroadcastEvent) -> Void
  let current = Mutex<HostRun?>(nil)

  static let label = "broadcast.host"

  /// - Parameter onEvent: called for one event after the other: on a thread of the controller's
  ///   own, but by ``finish()`` and ``cancelPick()`` where it is they who bring the ending about.
  public init(
    in group: AppGroup, onEvent: @escaping @Sendable (BroadcastEvent) -> Void = { _ in }
  ) throws(BroadcastError) {
    do throws(GroupError) { try group.require(.host) } catch { throw .group(error) }
    self.group = group
    self.onEvent = onEvent
    board = try SessionBoard(group, as: .host)
  }

  /// How a start came out.
  public enum Started: Hashable, Sendable {
    case began(SessionID)
    /// Its host had died; this one supervises it now.
    case adopted(SessionID)
    /// It is under way, and another process is its host.
    case joined(SessionID)

    public var session: SessionID {
      switch self {
      case .began(let session), .adopted(let session), .joined(let session): session
      }
    }
  }

  // MARK: Starting

  /// Starts a broadcast. Where the same one is under way, with the same extension and source, it is
  /// that one.
  /// - Throws: ``BroadcastError/alreadyBroadcasting(_:extensionID:source:)`` where another one is.
  public func start(_ request: BroadcastRequest) throws(BroadcastError) -> Started {
    let manifest = try ExtensionRegistry(group).manifest(of: request.extensionID)
    guard let presence = try becomeHost() else {
      guard let record = try board.read(), record.phase.isActive else {
        throw .roleTaken(.host)
      }
      try record.requireSame(as: request)
      return .joined(record.session)
    }
    if let record = try board.read(), record.phase.isActive {
      let found = found(record)
      if found.isEmpty {
        try board.change(record.session) { $0.end(.died(signal: nil)) }
      } else {
        try record.requireSame(as: request)
        let means = try means(of: record.session, request)
        try supervise(
          record, presence, request.publishing(as: record), manifest, means, adopting: found)
        return .adopted(record.session)
      }
    }
    let stream = request.streams[.video]?.text ?? SampleBufferType.video.usualStream
    var record = BroadcastRecord(
      session: SessionID(), extensionID: manifest.id, source: request.source, stream: stream)
    record.sound = request.capturedSound(for: manifest)
    try board.setSound(request.sound)
    try begin(record, presence, request, manifest)
    return .began(record.session)
  }

  /// - Returns: nil while another process is a session's host.
  private func becomeHost() throws(BroadcastError) -> RolePresence? {
    if let presence = try RolePresence(.host, in: group) { return presence }
    // One whose session has ended goes in a moment.
    if try board.read()?.phase.isActive == true { return nil }
    return try RolePresence(.host, in: group, waiting: true)
  }

  /// Writes a new session down, once there is what it takes, and not as one that is starting for
  /// ever if nothing comes of it.
  private func begin(
    _ record: BroadcastRecord, _ presence: RolePresence, _ request: BroadcastRequest,
    _ manifest: ExtensionManifest
  ) throws(BroadcastError) {
    let means = try means(of: record.session, request)
    endLeftCaptures(means.log)
    if let before = try board.read()?.session {
      end(SessionMark.extensions(of: before, in: group), "the extension", means.log)
    }
    try requireUnpublished(request.sources(for: manifest))
    do throws(BroadcastError) {
      try board.change { $0 = record }
      try supervise(record, presence, request, manifest, means, adopting: .none)
    } catch {
      let failure = BroadcastFailure(domain: "framebus.host", code: 1, reason: "\(error)")
      _ = try? board.change(record.session) { $0.end(.failed(failure)) }
      throw error
    }
  }

  private func means(
    of session: SessionID, _ request: BroadcastRequest
  ) throws(BroadcastError) -> SessionMeans {
    let log = try openLog(of: session)
    return SessionMeans(log: log, launcher: launcher(request, log))
  }

  private func launcher(_ request: BroadcastRequest, _ log: SharedLog) -> any RoleLauncher {
    guard request.isConfined else { return PlainLauncher(reason: "as asked for") }
    do throws(LaunchError) {
      return try ConfiningLauncher(group, log, request.rolesEndWithHost)
    } catch {
      log.append(.warning, "no role is confined: \(error)", label: Self.label)
      return PlainLauncher(reason: "there is no framebus-confine")
    }
  }

  private func supervise(
    _ record: BroadcastRecord, _ presence: RolePresence, _ request: BroadcastRequest,
    _ manifest: ExtensionManifest, _ means: SessionMeans, adopting found: FoundRoles
  ) throws(BroadcastError) {
    let log = means.log
    let isAdopted = !found.isEmpty
    log.append(
      .notice, isAdopted ? "a new host takes the session over" : "the session begins",
      label: Self.label,
      metadata: [LogField("extension", manifest.id), LogField("source", request.source)])
    if !isAdopted {
      log.append(.notice, request.consent, label: "broadcast.consent")
      // Before the first frame, also for a power cut.
      try? log.flush()
    }
    let starter = RoleStarter(group, record.session, request, manifest, log, means.launcher)
    let run = try HostRun(
      record, board, presence, log, starter, request.restarts, adopting: found,
      finishWithin: request.finishWithin, onEvent: onEvent)
    current.withLock { $0 = run }
    do throws(SystemError) {
      // There, so that whoever is told of a start is told of an ending.
      try startThread(named: "host") { [onEvent] in
        onEvent(.started(run.session, isAdopted: isAdopted))
        run.run()
      }
    } catch {
      current.withLock { $0 = nil }
      throw .system(error)
    }
  }

  func found(_ record: BroadcastRecord) -> FoundRoles {
    func capture(of stream: StreamName) -> PeerProcess? {
      RolePresence.capture(of: record.session, publishing: stream, in: group)
    }
    let uploader = RolePresence.process(of: .extension, in: group)
    return FoundRoles(
      capture: (try? StreamName(record.stream)).flatMap(capture), uploader: uploader,
      silent: uploader == nil
        ? SessionMark.extensions(of: record.session, in: group).first : nil,
      sound: record.sound.streams.compactMapValues(capture))
  }

  /// Ends captures whose session is over, which a host that was killed or made to end at once left
  /// behind.
  /// - Returns: how many have ended.
  /// - Throws: ``BroadcastError/captureGoesOn(pid:uid:)`` where one could not be ended, as another
  ///   user's.
  package func endLeftCaptures() throws(BroadcastError) -> Int {
    guard let presence = try becomeHost() else { return 0 }
    defer { presence.end() }
    let record = try board.read()
    // They are of a session that is under way, and its next host's.
    if record?.phase.isActive == true { return 0 }
    if RolePresence.captures(in: group).isEmpty { return 0 }
    let endedCount = endLeftCaptures(try openLog(of: record?.session ?? SessionID()))
    if let left = RolePresence.captures(in: group).first {
      throw .captureGoesOn(pid: left.credentials.pid, uid: left.credentials.uid)
    }
    return endedCount
  }

  /// An extension takes whatever comes on its streams: what another process publishes there is not
  /// this session's to send. A stranger's sound is, where the host has none captured.
  private func requireUnpublished(_ sources: SampleSources) throws(BroadcastError) {
    let publishers = RolePresence.publishers(in: group)
    for (type, stream) in sources.inOrder {
      guard let process = publishers[stream],
        type == .video || SessionMark.session(of: process) != nil
      else { continue }
      throw .alreadyPublished(
        stream, pid: process.credentials.pid, uid: process.credentials.uid)
    }
  }

  /// Ends captures whose session is over, as hosts that were killed leave them: they would keep
  /// their streams from the next session. Called while none is under way.
  /// - Returns: how many have ended.
  @discardableResult
  private func endLeftCaptures(_ log: SharedLog) -> Int {
    end(RolePresence.captures(in: group), "a capture", log)
  }

  /// - Parameter what: they are of a session that is over.
  /// - Returns: how many have ended.
  @discardableResult
  private func end(_ processes: [PeerProcess], _ what: String, _ log: SharedLog) -> Int {
    let left = processes.map { RoleProcess.adopted($0) }
    for process in left { process.send(signal: Signal.terminate) }
    let deadline = Deadline.after(HostRun.endWithin)
    var endedCount = 0
    for process in left {
      let text = "process \(process.pid), \(what) of a session that is over,"
      if process.stops(killAt: deadline) {
        endedCount += 1
        log.append(.notice, "\(text) was ended", label: Self.label)
      } else {
        log.append(.error, "\(text) goes on: end it as its user", label: Self.label)
      }
    }
    return endedCount
  }

  func openLog(of session: SessionID) throws(BroadcastError) -> SharedLog {
    var options = LogOptions()
    options.session = session.text
    do throws(LogError) {
      return try SharedLog.open(group, role: .host, options: options)
    } catch { throw .log(error) }
  }

  // MARK: While it is under way

  /// Has no samples come until ``resume()``.
  public func pause() throws(BroadcastError) {
    try wishOfLiving { if $0.wish == .run { $0.wish = .pause } }
  }

  public func resume() throws(BroadcastError) {
    try wishOfLiving { if $0.wish == .pause { $0.wish = .run } }
  }

  /// Which sound is heard. What is switched off is not captured; with the next chunk that is so.
  public var sound: SoundSwitch {
    get throws(BroadcastError) { try board.sound() }
  }

  /// Changes ``sound`` of the broadcast that is under way, or of who captures without one. A
  /// broadcast begins with that of its request.
  public func setSound(_ sound: SoundSwitch) throws(BroadcastError) { try board.setSound(sound) }

  /// As ``setSound(_:)``, of one kind alone: what is nil stays as it is, whoever changes it at the
  /// same moment.
  public func setSound(app: Bool?, mic: Bool?) throws(BroadcastError) {
    try board.setSound(app: app, mic: mic)
  }

  /// Tells the extension which application is in front, until another comes to the front of the
  /// screen that is captured.
  /// - Throws: ``BroadcastError/badApplication`` unless it has 1 to 255 bytes, none of which could
  ///   steer a terminal or forge a line of a log.
  public func annotate(applicationID: String) throws(BroadcastError) {
    guard let name = ApplicationID(applicationID) else { throw .badApplication }
    try wishOfLiving { $0.application = name.text }
  }

  /// Records that nobody was picked to take a broadcast, which so never began.
  public func cancelPick() throws(BroadcastError) {
    var isCancelled = false
    try board.change { record in
      if record?.phase.isActive == true { return }
      var cancelled = BroadcastRecord(
        session: SessionID(), extensionID: "", source: "", stream: "")
      cancelled.end(.cancelled)
      record = cancelled
      isCancelled = true
    }
    if isCancelled { onEvent(.finished(.cancelled)) }
  }

  /// As `wish`, of a session that somebody is left of.
  private func wishOfLiving(_ body: (inout BroadcastRecord) -> Void) throws(BroadcastError) {
    if try status.isDead { throw .noBroadcast }
    _ = try wish(body)
  }

  /// Changes the record of the session that is under way.
  func wish(
    _ body: (inout BroadcastRecord) -> Void
  ) throws(BroadcastError) -> BroadcastRecord {
    let record = try board.change { record in
      guard var active = record, active.phase.isActive else { return }
      body(&active)
      record = active
    }
    guard let record, record.phase.isActive else { throw .noBroadcast }
    return record
  }

  // MARK: Looking

  /// What is so now.
  public var status: BroadcastStatus {
    get throws(BroadcastError) { try BroadcastStatus(of: group, board) }
  }

  public var isBroadcasting: Bool {
    get throws(BroadcastError) { try status.phase.isActive }
  }

  public var isPaused: Bool { get throws(BroadcastError) { try status.phase == .paused } }
}

/// What a session takes besides processes.
private struct SessionMeans {
  let log: SharedLog
  let launcher: any RoleLauncher
}

extension BroadcastRecord {
  /// A second start is the same session, or an error.
  fileprivate func requireSame(as request: BroadcastRequest) throws(BroadcastError) {
    if request.extensionID == extensionID, request.source == source { return }
    throw .alreadyBroadcasting(session, extensionID: extensionID, source: source)
  }
}
