import AppGroup
import Capture
import CredentialStore
import FrameBus
import FrontApplication
import Platform
import SharedDefaults
import SharedLog
import Sound
import Synchronization

/// The host's side of a broadcast: starts, pauses and ends it, and receives its events.
///
/// The process that starts a session supervises it. Another host's controller can also pause,
/// resume and finish it, and takes the session over once the supervising host has died.
public final class BroadcastController: Sendable {
  /// The group whose broadcasts it controls.
  public let group: AppGroup
  let board: SessionBoard
  let onEvent: @Sendable (BroadcastEvent) -> Void
  private let heartbeat: Heartbeat?
  let current = Mutex<HostRun?>(nil)

  static let label = "broadcast.host"

  /// - Parameters:
  ///   - heartbeat: called while a session is supervised as it should be.
  ///   - onEvent: called for one event at a time, on a thread that the controller owns;
  ///     ``finish()`` and ``cancelPick()`` call it on the caller's thread if they end it.
  public init(
    in group: AppGroup, heartbeat: Heartbeat? = nil,
    onEvent: @escaping @Sendable (BroadcastEvent) -> Void = { _ in }
  ) throws(BroadcastError) {
    do throws(GroupError) { try group.require(.host) } catch { throw .group(error) }
    self.group = group
    self.onEvent = onEvent
    self.heartbeat = heartbeat
    board = try SessionBoard(group, as: .host)
  }

  /// The result of a start.
  public enum Started: Hashable, Sendable {
    /// A session began.
    case began(SessionID)
    /// The session's host had died; this controller supervises it now.
    case adopted(SessionID)
    /// The session is running, and another process is its host.
    case joined(SessionID)

    /// The session that is running now.
    public var session: SessionID {
      switch self {
      case .began(let session), .adopted(let session), .joined(let session): session
      }
    }
  }

  // MARK: Starting

  /// Starts a broadcast, or joins the active one if it has the same extension, source and options.
  /// - Throws: ``BroadcastError/alreadyBroadcasting(_:extensionID:source:)`` if a different
  ///   broadcast is active; ``BroadcastError/otherOptions(_:_:)`` if it has other options;
  ///   ``BroadcastError/optionsOfCapture(_:_:)`` for those that a stream as the source cannot have;
  ///   ``BroadcastError/consentRequired(_:)`` if nobody has agreed to a new one as it would happen
  ///   now; ``BroadcastError/server(_:)``; ``BroadcastError/notOwner(_:)`` if another user than the
  ///   group's owner passes setup information on.
  public func start(_ requested: BroadcastRequest) throws(BroadcastError) -> Started {
    try requested.checkOptions()
    try requireOwner(toPassOn: requested)
    let manifest = try ExtensionRegistry(group).manifest(of: requested.extensionID)
    var request = requested
    // Kept for the session: a later change of the setting cannot show a window.
    do throws(ProtectionSettingError) {
      request.capture.protection.add(try WindowRule.setting(of: group))
    } catch { throw .protection(error) }
    guard let presence = try becomeHost() else {
      guard let record = try board.read(), record.phase.isActive else {
        throw .roleTaken(.host)
      }
      try requireSame(record, as: requested)
      return .joined(record.session)
    }
    request.destination = try BroadcastDestination(
      of: manifest, agreed: request.server, in: group)
    if let record = try board.read(), record.phase.isActive {
      let found = FoundRoles(of: record, in: group)
      if !found.isEmpty {
        return try adopt(record, found, presence, request, as: requested, manifest)
      }
      try board.change(record.session) { $0.end(.died(signal: nil)) }
    }
    let consent = try agreedConsent(to: request, for: manifest)
    let stream = request.stream(of: .video)?.text ?? SampleBufferType.video.usualStream
    var record = BroadcastRecord(
      session: SessionID(), extensionID: manifest.id, source: "", stream: stream)
    record.sound = request.capturedSound(for: manifest)
    record.options = SessionOptions(request, capturing: request.captureSettings(for: manifest))
    try record.setSources(of: request)
    try begin(record, presence, request, manifest, consent)
    return .began(record.session)
  }

  /// - Throws: ``BroadcastError/consentRequired(_:)`` unless somebody agreed to what happens now.
  private func agreedConsent(
    to request: BroadcastRequest, for manifest: ExtensionManifest, adopting found: FoundRoles? = nil
  ) throws(BroadcastError) -> BroadcastConsent {
    let consent = BroadcastConsent(to: request, for: manifest, adopting: found)
    if consent.isRequired, request.consentGiver == nil { throw .consentRequired(consent) }
    if let agreed = request.agreed {
      if agreed != consent { throw .consentRequired(consent) }
    } else if let server = consent.server {
      throw .server(.unnamed(origin: server))
    }
    return consent
  }

  /// Takes over a session whose host has died. Any member can write its record, so what is captured
  /// and sent is what the request says, and its user agrees to it.
  private func adopt(
    _ running: BroadcastRecord, _ found: FoundRoles, _ presence: RolePresence,
    _ request: BroadcastRequest, as requested: BroadcastRequest, _ manifest: ExtensionManifest
  ) throws(BroadcastError) -> Started {
    if requested.requiresConfinement {
      throw .weakConfinement(
        found.named.mapValues {
          "process \($0.credentials.pid) was started by another host, so its confinement is"
            + " unknown; stop it with `framebus broadcast stop`"
        })
    }
    var request = request.adopting(running)
    let sound = try board.sound()
    request.sound.merge([.audioApp: sound.app, .audioMic: sound.mic]) { own, _ in own }
    // Compared first: nobody is asked about a session that cannot be taken over.
    var compared = requested
    compared.destination = request.destination
    try requireSameRestart(running, as: request)
    try requireSame(running, as: compared, exceptFor: ["restarts", "consent"])
    request.setup = try runningSetup(running, for: request) ?? SessionSetup()
    // The record may name the stream of another capture.
    try requireUnpublished(
      request.sources(for: manifest), exceptPictures: request.publishedStream != nil,
      exceptBy: running.session)
    let consent = try agreedConsent(to: request, for: manifest, adopting: found)
    let log = try openLog(of: running.session)
    note(consent, by: request.consentGiver, log, label: HostRun.label)
    let starter = RoleStarter(group, running.session, request, manifest, log)
    let record = try corrected(running, for: request, found)
    try supervise(record, presence, request, starter, adopting: found)
    return .adopted(running.session)
  }

  /// The record of a session without what only its former host could know: how the running roles
  /// are confined. It ends when the new host's request says, or before.
  private func corrected(
    _ record: BroadcastRecord, for request: BroadcastRequest, _ found: FoundRoles
  ) throws(BroadcastError) -> BroadcastRecord {
    var record = record
    if let duration = request.duration {
      record.options.end = min(record.options.end, .after(duration))
    }
    for role in found.named.keys { record.confinement[role] = Self.unknownConfinement }
    let (end, confinement) = (record.options.end, record.confinement)
    try board.change(record.session) {
      $0.confinement = confinement; $0.options.end = end
      $0.options.restartLimit = request.restarts.maximumInARow
      $0.options.consent = request.consent
    }
    return record
  }

  private static let unknownConfinement = "unknown: started by another host"

  /// Throws if a start requests another session than the active one, or other options. Changes
  /// those that can be changed, if the request says so.
  private func requireSame(
    _ record: BroadcastRecord, as request: BroadcastRequest, exceptFor own: Set<String> = []
  ) throws(BroadcastError) {
    guard request.extensionID == record.extensionID, try record.isOf(request.source) else {
      throw .alreadyBroadcasting(
        record.session, extensionID: record.extensionID, source: record.source)
    }
    var fixed = try record.options.differences(to: request).filter { !own.contains($0.option) }
    if let stream = request.streams[.video]?.text, stream != record.stream {
      fixed.append(
        BroadcastDifference(option: "stream", running: record.stream, requested: stream))
    }
    if !request.setup.isEmpty {
      let setup = try runningSetup(record, for: request) ?? SessionSetup()
      fixed += setup.differences(to: request.setup)
    }
    let running = try board.sound()
    let sounds = request.sound.filter { type, isOn in running.isOn(type) != isOn }
    var changes = sounds.sorted { $0.key.rawValue < $1.key.rawValue }.map { type, isOn in
      BroadcastDifference(
        option: type == .audioMic ? "mic" : "app", running: isOn ? "off" : "on",
        requested: isOn ? "on" : "off")
    }
    if fixed.isEmpty, changes.isEmpty { return }
    guard request.appliesToRunning else { throw .otherOptions(record.session, changes + fixed) }
    if !changes.isEmpty {
      try board.setSound(app: sounds[.audioApp], mic: sounds[.audioMic])
    }
    let followed = try follow(fixed, to: request, in: record)
    fixed.removeAll(where: followed.contains)
    changes += followed
    if !changes.isEmpty { onEvent(.changed(changes)) }
    if !fixed.isEmpty { throw .restartNeeded(record.session, fixed, changed: changes) }
  }

  /// Throws if a host that adopts a session would restart its captures in another way than they
  /// run: with the request's sound sources, or without a protection that another build wrote.
  private func requireSameRestart(
    _ record: BroadcastRecord, as request: BroadcastRequest
  ) throws(BroadcastError) {
    var differences: [BroadcastDifference] = []
    for (type, option) in SessionOptions.sourceNames {
      if try record.options.captures(type, from: request.soundSources[type]) { continue }
      differences.append(
        BroadcastDifference(
          option: option, running: record.options.soundSources[type].map(SourceKind.shown),
          requested: request.soundSources[type].map(SourceKind.shown) ?? "none"))
    }
    if let rules = record.options.unread["protect"] {
      let known = SessionOptions(request).shown["protect"] ?? "none"
      differences.append(
        BroadcastDifference(option: "protect", running: rules, requested: known))
    }
    if !differences.isEmpty { throw .otherOptions(record.session, differences) }
  }

  /// Logs who has agreed to what, before the first frame of this host.
  private func note(
    _ consent: BroadcastConsent, by giver: BroadcastConsent.Giver?, _ log: SharedLog,
    label: String = "broadcast.consent"
  ) {
    log.append(.notice, consent.text, label: label, metadata: consent.logged(by: giver))
    // Flushed, so that it survives a power failure.
    try? log.flush()
  }

  /// - Returns: nil while another process is the host of an active session, or does not become it.
  private func becomeHost() throws(BroadcastError) -> RolePresence? {
    let deadline = Deadline.after(Self.hostTimeout)
    while true {
      if let presence = try RolePresence(.host, in: group) { return presence }
      // The host of an ended session exits shortly; one that starts records its session shortly.
      if try board.read()?.phase.isActive == true || deadline.isPast { return nil }
      // Of random length: of two hosts that saw each other, one must be first.
      sleep(until: .after(.milliseconds(.random(in: 10...40))))
    }
  }

  /// Longer than a host takes to stop the roles of its session.
  private static let hostTimeout = HostRun.exitTimeout * 3

  /// Records a new session once its resources are available. If the start fails, records the
  /// failure, so that the session does not stay in `starting`.
  private func begin(
    _ record: BroadcastRecord, _ presence: RolePresence, _ request: BroadcastRequest,
    _ manifest: ExtensionManifest, _ consent: BroadcastConsent
  ) throws(BroadcastError) {
    let log = try openLog(of: record.session)
    let starter = RoleStarter(group, record.session, request, manifest, log)
    endOrphanedCaptures(log)
    if let before = try board.read()?.session {
      end(before.extensions(in: group), "the extension", log)
    }
    try requireUnpublished(
      request.sources(for: manifest), exceptPictures: request.publishedStream != nil)
    if request.requiresConfinement { try starter.requireConfinement() }
    try seal(request, for: record.session)
    do throws(BroadcastError) {
      try board.restoreSound()
      try board.begin(record, request.initialSound)
      note(consent, by: request.consentGiver, log)
      try supervise(record, presence, request, starter, adopting: nil)
    } catch {
      starter.removeSetup()
      let failure = BroadcastFailure(domain: "framebus.host", code: 1, reason: "\(error)")
      _ = try? board.change(record.session) { $0.end(.failed(failure)) }
      throw error
    }
  }

  private func supervise(
    _ record: BroadcastRecord, _ presence: RolePresence, _ request: BroadcastRequest,
    _ starter: RoleStarter, adopting found: FoundRoles?
  ) throws(BroadcastError) {
    let log = starter.log
    log.append(
      .notice, found != nil ? "a new host takes over the session" : "the session starts",
      label: Self.label,
      metadata: [
        LogField("extension", record.extensionID),
        LogField("source", SourceKind.shown(request.source)),
      ])
    if request.capture.protection == .off {
      log.append(
        .warning, "protection is off: windows that ask not to be seen are shown",
        label: Self.label)
    }
    let unprotected = request.unprotected(for: starter.manifest)
    if !unprotected.isEmpty {
      log.append(
        .warning,
        "protection is impossible for this source: windows of "
          + "\(unprotected.joined(separator: ", ")) are shown if it shows them", label: Self.label)
    }
    let run = try HostRun(
      record, board, presence, log, starter, request.restarts, adopting: found,
      finishTimeout: request.finishTimeout, onEvent: onEvent)
    run.heartbeat = heartbeat
    current.withLock { $0 = run }
    do throws(SystemError) {
      // Emitted on that thread: a host that receives a start also receives an ending.
      try startThread(named: "host") { [onEvent] in
        onEvent(.started(run.session, isAdopted: found != nil))
        run.run()
      }
    } catch {
      current.withLock { $0 = nil }
      throw .system(error)
    }
  }

  /// Ends captures of ended sessions, which remain after their host was killed.
  /// - Returns: the number of captures that ended.
  /// - Throws: ``BroadcastError/captureStillRunning(pid:uid:)`` if another user's capture cannot be
  ///   ended.
  package func endOrphanedCaptures() throws(BroadcastError) -> Int {
    guard let presence = try becomeHost() else { return 0 }
    defer { presence.end() }
    let record = try board.read()
    // The captures of an active session belong to its next host.
    if record?.phase.isActive == true { return 0 }
    if RolePresence.captures(in: group).isEmpty { return 0 }
    let endedCount = endOrphanedCaptures(try openLog(of: record?.session ?? SessionID()))
    if let left = RolePresence.captures(in: group).first {
      throw .captureStillRunning(pid: left.credentials.pid, uid: left.credentials.uid)
    }
    try board.restoreSound()
    return endedCount
  }

  /// Refuses to start while another process publishes one of the session's streams, because the
  /// extension would send that process's frames. Sound from outside the session is allowed if the
  /// host captures none.
  /// - Parameters:
  ///   - published: whether the pictures come from outside the session too.
  ///   - adopted: the session whose captures may publish them.
  private func requireUnpublished(
    _ sources: SampleSources, exceptPictures published: Bool, exceptBy adopted: SessionID? = nil
  ) throws(BroadcastError) {
    let publishers = RolePresence.publishers(in: group)
    for (type, stream) in sources.inOrder {
      guard let process = publishers[stream] else { continue }
      let session = SessionID(ofCapture: process)
      guard session == nil ? type == .video && !published : session != adopted else { continue }
      throw .alreadyPublished(
        stream, pid: process.credentials.pid, uid: process.credentials.uid)
    }
  }

  /// Ends captures of ended sessions, which remain after their host was killed and would block
  /// their streams for the next session. Call it only while no session is active.
  /// - Returns: the number of captures that ended.
  @discardableResult
  private func endOrphanedCaptures(_ log: SharedLog) -> Int {
    end(RolePresence.captures(in: group), "a capture", log)
  }

  /// - Parameter what: the processes' part in a session that has ended, for the log.
  /// - Returns: the number of processes that ended.
  @discardableResult
  private func end(_ processes: [PeerProcess], _ what: String, _ log: SharedLog) -> Int {
    let left = processes.map { RoleProcess.adopted($0) }
    for process in left { process.send(signal: Signal.terminate) }
    let deadline = Deadline.after(HostRun.exitTimeout)
    var endedCount = 0
    for process in left {
      let text = "process \(process.pid), \(what) of an ended session,"
      if process.stops(killAt: deadline) {
        endedCount += 1
        log.append(.notice, "\(text) was terminated", label: Self.label)
      } else {
        log.append(.error, "\(text) is still running; end it as its user", label: Self.label)
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

  // MARK: While a session is active

  /// Stops the flow of samples until ``resume()``.
  public func pause() throws(BroadcastError) {
    try changeUnlessDead { if $0.requested == .run { $0.requested = .pause } }
  }

  /// Lets samples flow again after ``pause()``.
  public func resume() throws(BroadcastError) {
    try changeUnlessDead { record in
      guard record.requested == .pause else { return }
      record.requested = .run
      record.resumedAtNs = monotonicNowNs()
    }
  }

  /// The kinds of sound that are on. A kind that is off is not captured; a change takes effect with
  /// the next chunk.
  public var sound: SoundSwitch {
    get throws(BroadcastError) { try board.sound() }
  }

  /// Changes ``sound`` for the active broadcast, or for captures that run without one. A broadcast
  /// starts with the value in its request.
  public func setSound(_ sound: SoundSwitch) throws(BroadcastError) { try board.setSound(sound) }

  /// Changes one kind of sound. A nil kind keeps its value, even if another process changes it at
  /// the same time.
  public func setSound(app: Bool?, mic: Bool?) throws(BroadcastError) {
    try board.setSound(app: app, mic: mic)
  }

  /// Reports the front application to the extension, until another application moves to the front
  /// of the captured screen.
  /// - Throws: ``BroadcastError/badApplication`` unless the name has 1 to 255 bytes without control
  ///   or format characters, which could steer a terminal or forge a log line.
  public func annotate(applicationID: String) throws(BroadcastError) {
    guard let name = ApplicationID(applicationID) else { throw .badApplication }
    try changeUnlessDead { record in
      record.application = name.text
      // The session's host passes it on.
      if record.capturedStream == nil { record.undeliveredApplication = name.text }
    }
    // For everything that shows the stream. The extension has it from the record.
    guard let stream = try board.read()?.capturedStream else { return }
    do throws(DefaultsError) {
      try FrontApplication(of: stream, in: group).set(name)
    } catch { throw .settings(error) }
  }

  /// Records that the user picked no extension, so that no broadcast started.
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

  /// Changes the record of the active session, unless all its processes have died.
  private func changeUnlessDead(_ body: (inout BroadcastRecord) -> Void) throws(BroadcastError) {
    if try status.isDead { throw .noBroadcast }
    _ = try changeActiveRecord(body)
  }

  /// Changes the record of the active session.
  func changeActiveRecord(
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

  // MARK: State

  /// The current state.
  public var status: BroadcastStatus {
    get throws(BroadcastError) { try BroadcastStatus(of: group, board) }
  }

  /// Whether a broadcast is active, whichever process is its host.
  public var isBroadcasting: Bool {
    get throws(BroadcastError) { try status.phase.isActive }
  }

  /// Whether a broadcast is active and paused.
  public var isPaused: Bool { get throws(BroadcastError) { try status.phase == .paused } }
}
