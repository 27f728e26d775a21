import AppGroup
import Platform

extension BroadcastController {
  private static let lookInterval = Duration.milliseconds(50)
  /// How often to look whether anybody is left of a session: nothing tells when the last one dies.
  private static let lifeInterval = Duration.seconds(1)

  /// Blocks the thread until a session has ended, and its processes with it. Where its host dies
  /// after the session was asked to finish, this call does the host's work.
  /// - Parameter onSilentHost: called at most once, with the number of the host's process, if it is
  ///   known, where the host should have ended the session by now, and is stopped, say.
  /// - Returns: nil if `stop` was raised first.
  /// - Throws: ``BroadcastError/unrecorded(_:why:)`` where it has ended, and that could not be
  ///   written down.
  public func waitForEnding(
    of session: SessionID, stop: StopSignal? = nil,
    onSilentHost: (_ processID: Int32?) -> Void = { _ in }
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
      if isHostThere, isOver || record?.wish == .finish, host.isOverdue() {
        onSilentHost(host.processID)
      }
      // Nothing tells of the end of another process's work as a host, but its death does.
      _ = try? waitUntilReadable(
        [wake.signal.descriptorNumber] + stops + host.descriptorNumbers,
        until: .after(isOver ? Self.lookInterval : Self.lifeInterval))
      if stop?.isRaised == true { return nil }
    }
  }

  /// How a session ended that has no host; one that was asked to finish is brought to its end.
  /// - Returns: nil while it goes on.
  private func endingWithoutHost(
    of session: SessionID
  ) throws(BroadcastError) -> BroadcastEnding? {
    // Who went last may have written it down just before.
    let now = try status
    // Another session's record: this one is over, and nobody wrote down how.
    if now.session != session { return .died(signal: nil) }
    if let ending = now.ending { return ending }
    guard now.isFinishing, let record = try board.read(), record.session == session,
      record.phase.isActive
    else { return nil }
    return try takeOver(record)
  }
}

/// The host of a session, as one sees it who waits for that to end.
private struct HostWatch {
  private let group: AppGroup
  private var found: FoundPresence?
  private var sinceNs: UInt64 = 0
  private var isTold = false

  /// How long one may take that is about to end a session: longer than a session's end can take.
  private static let patienceNs: UInt64 = 20_000_000_000
  /// The same for one that is stopped, unless it goes on at once.
  private static let stoppedNs: UInt64 = 3_000_000_000

  init(of group: AppGroup) { self.group = group }

  /// For a person.
  var processID: Int32? { found?.process?.credentials.pid }

  /// What becomes readable when it dies.
  var descriptorNumbers: [Int32] {
    [found?.process].compactMap(\.self).map(\.descriptorNumber)
  }

  mutating func isThere() -> Bool {
    if found?.isThere != true { found = RolePresence.find(.host, in: group) }
    return found != nil
  }

  /// Whether it should have ended the session by now; true once. Asked while that is ending.
  mutating func isOverdue() -> Bool {
    if sinceNs == 0 { sinceNs = monotonicNowNs() }
    let waitedNs = monotonicNowNs() - sinceNs
    let isLate =
      waitedNs > Self.patienceNs
      || waitedNs > Self.stoppedNs && found?.process?.isStopped == true
    if isTold || !isLate { return false }
    isTold = true
    return true
  }
}
