import AppGroup
import Platform
import SharedLog

extension BroadcastController {
  /// Asks the extension to finish. ``waitForEnding(of:stop:onSilentHost:)`` tells when it has.
  /// Where the session's host has died, this call does the host's work, and returns when all has
  /// ended.
  ///
  /// What is shown ends also where the wish cannot be written down, as on a full disk.
  /// - Throws: ``BroadcastError/unrecorded(_:why:)`` after it has ended in that way, if it is
  ///   another host's session; of this controller's own, that is for the wait to tell.
  public func finish() throws(BroadcastError) {
    let own = current.withLock { $0?.hasEnded == false ? $0 : nil }
    do throws(BroadcastError) {
      let record = try wish { $0.wish = .finish }
      if own == nil { _ = try takeOver(record) }
    } catch {
      guard let own else {
        if let failure = endFound(without: error) { throw failure }
        return
      }
      own.finishUnrecorded()
    }
  }

  /// Does the work of a host that has died, until all has ended.
  /// - Returns: how it ended; nil while another process is the host.
  func takeOver(_ record: BroadcastRecord) throws(BroadcastError) -> BroadcastEnding? {
    guard let presence = try RolePresence(.host, in: group) else { return nil }
    defer { presence.end() }
    let found = found(record)
    if found.processes.isEmpty {
      let ending = BroadcastEnding.died(signal: nil)
      try board.change(record.session) { $0.end(ending) }
      onEvent(.finished(ending))
      return ending
    }
    let log = try openLog(of: record.session)
    log.append(.notice, "the session is ended by a host that did not start it", label: Self.label)
    let run = try HostRun(
      record, board, presence, log, nil, .never, adopting: found,
      finishWithin: BroadcastRequest.usualTimeToFinish, onEvent: onEvent)
    run.run()
    return try run.ending()
  }

  /// Ends the processes of the session that is under way by signals: its host's first, which then
  /// ends the others in its own order.
  /// - Returns: what to throw; nil if the ending was written down all the same.
  private func endFound(without error: BroadcastError) -> BroadcastError? {
    guard let record = (try? board.read()) ?? nil, record.phase.isActive else { return error }
    if case .unrecorded = error { return error }
    if let host = RolePresence.process(of: .host, in: group) {
      if host.send(signal: Signal.terminate) == .refused { return error }
      // One that is stopped hears of it later.
      let limit = BroadcastRequest.usualTimeToFinish + HostRun.endWithin
      _ = host.waitForEnd(until: .after(limit))
    }
    let roles = found(record).processes
    for role in roles { role.send(signal: Signal.terminate) }
    let deadline = Deadline.after(BroadcastRequest.usualTimeToFinish)
    let left = roles.filter { !$0.stops(killAt: deadline) }
    // An ending may find the room that the wish did not.
    if let now = (try? board.read()) ?? nil, now.session == record.session,
      now.phase == .finished
    {
      return nil
    }
    return left.isEmpty ? .unrecorded(nil, why: error.cause) : error
  }
}
