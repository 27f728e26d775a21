import AppGroup
import NotifyCenter
import Platform

extension BroadcastController {
  private static let pollInterval = Duration.milliseconds(50)
  /// How often to check whether any process of a session is left: no event marks the last death.
  private static let livenessInterval = Duration.seconds(1)

  /// Blocks until a session has ended and its processes have exited. If the host dies after the
  /// session was asked to finish, this call does the host's work.
  /// - Parameter onUnresponsiveHost: called at most once if the host is overdue to end the session,
  ///   for example because it is stopped; with the host's process ID, if known.
  /// - Returns: nil if `stop` was raised first.
  /// - Throws: ``BroadcastError/unrecorded(_:why:)`` if the session ended but that could not be
  ///   recorded.
  public func waitForEnding(
    of session: SessionID, stop: StopSignal? = nil,
    onUnresponsiveHost: (_ processID: Int32?) -> Void = { _ in }
  ) throws(BroadcastError) -> BroadcastEnding? {
    let stops = [stop?.descriptorNumber].compactMap(\.self)
    if let run = current.withLock({ $0?.session == session ? $0 : nil }) {
      _ = try? waitUntilReadable([run.endedDescriptor] + stops, until: .never)
      guard run.hasEnded else { return nil }
      current.withLock { if $0 === run { $0 = nil } }
      return try run.ending()
    }
    let wake: Wake
    do throws(SystemError) { wake = try Wake() } catch { throw .system(error) }
    let observation = try board.observe { wake.raise() }
    defer { observation.cancel() }
    var host = HostWatch(of: group)
    while true {
      do throws(SystemError) { _ = try wake.take() } catch { throw .system(error) }
      let record = try board.read()
      let isHostThere = record?.session == session && host.isThere()
      if !isHostThere, let ending = try endingWithoutHost(of: session) { return ending }
      let isOver = record?.session != session || record?.phase == .finished
      if isHostThere, isOver || record?.requested == .finish, host.isOverdue() {
        onUnresponsiveHost(host.processID)
      }
      // A host that completes its work raises no event; the death of its process does.
      _ = try? waitUntilReadable(
        [wake.signal.descriptorNumber] + stops + host.descriptorNumbers,
        until: .after(isOver ? Self.pollInterval : Self.livenessInterval))
      if stop?.isRaised == true { return nil }
    }
  }

  /// Calls a closure after each change of the state, whichever process makes it.
  package func observe(
    _ changed: @escaping @Sendable () -> Void
  ) throws(BroadcastError) -> Observation {
    try board.observe(changed)
  }

  /// How a session without a host ended. Ends the session first if it was asked to finish.
  /// - Returns: nil if it is still active.
  private func endingWithoutHost(
    of session: SessionID
  ) throws(BroadcastError) -> BroadcastEnding? {
    // Read again, because the last process may have recorded the ending just before it exited.
    let now = try status
    // The record belongs to another session: this one ended without a record.
    if now.session != session { return .died(signal: nil) }
    if let ending = now.ending { return ending }
    guard now.isFinishing, let record = try board.read(), record.session == session,
      record.phase.isActive
    else { return nil }
    return try takeOver(record)
  }
}

/// The host of a session, as seen by a process that waits for the session to end.
private struct HostWatch {
  private let group: AppGroup
  private var found: FoundPresence?
  private var sinceNs: UInt64 = 0
  private var isReported = false

  /// When a host is overdue: longer than ending a session can take.
  private static let timeoutNs: UInt64 = 20_000_000_000
  /// The same for a stopped host, unless it continues soon.
  private static let stoppedTimeoutNs: UInt64 = 3_000_000_000

  init(of group: AppGroup) { self.group = group }

  /// The host's process ID, if known.
  var processID: Int32? { found?.process?.credentials.pid }

  /// Readable when the host's process exits.
  var descriptorNumbers: [Int32] {
    [found?.process].compactMap(\.self).map(\.descriptorNumber)
  }

  mutating func isThere() -> Bool {
    if found?.isThere != true { found = RolePresence.find(.host, in: group) }
    return found != nil
  }

  /// Returns true once, when the host is overdue. Call it while the session should be ending.
  mutating func isOverdue() -> Bool {
    if sinceNs == 0 { sinceNs = monotonicNowNs() }
    let waitedNs = monotonicNowNs() - sinceNs
    let isLate =
      waitedNs > Self.timeoutNs
      || waitedNs > Self.stoppedTimeoutNs && found?.process?.isStopped == true
    if isReported || !isLate { return false }
    isReported = true
    return true
  }
}
