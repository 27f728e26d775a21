import AppGroup
import Platform
import SharedLog

extension BroadcastController {
  /// Asks the extension to finish; ``waitForEnding(of:stop:onUnresponsiveHost:)`` waits until it
  /// has. If the session's host has died, this call does the host's work and returns when all roles
  /// have exited.
  ///
  /// The broadcast also ends if the request cannot be recorded, as on a full disk.
  /// - Throws: ``BroadcastError/unrecorded(_:why:)`` if another host's session ended and
  ///   that could not be recorded. For this controller's own session, the wait throws it.
  public func finish() throws(BroadcastError) {
    let own = current.withLock { $0?.hasEnded == false ? $0 : nil }
    do throws(BroadcastError) {
      let record = try changeActiveRecord { $0.requested = .finish }
      if own == nil { _ = try takeOver(record) }
    } catch {
      guard let own else {
        if let failure = endFound(without: error) { throw failure }
        return
      }
      own.finishUnrecorded()
    }
  }

  /// Does the work of a host that has died, until all roles have exited.
  /// - Returns: how the broadcast ended; nil while another process is the host.
  func takeOver(_ record: BroadcastRecord) throws(BroadcastError) -> BroadcastEnding? {
    guard let presence = try RolePresence(.host, in: group) else { return nil }
    defer { presence.end() }
    let found = FoundRoles(of: record, in: group)
    if found.processes.isEmpty {
      let ending = BroadcastEnding.died(signal: nil)
      try board.change(record.session) { $0.end(ending) }
      onEvent(.finished(ending))
      return ending
    }
    let log = try openLog(of: record.session)
    log.append(.notice, "a host that did not start the session ends it", label: Self.label)
    let run = try HostRun(
      record, board, presence, log, nil, .never, adopting: found,
      finishTimeout: BroadcastRequest.defaultFinishTimeout, onEvent: onEvent)
    run.run()
    return try run.ending()
  }

  /// Ends the processes of the active session with signals: the host first, which stops the others
  /// in order.
  /// - Returns: the error to throw; nil if the ending was recorded after all.
  private func endFound(without error: BroadcastError) -> BroadcastError? {
    guard let record = (try? board.read()) ?? nil, record.phase.isActive else { return error }
    if case .unrecorded = error { return error }
    if let host = RolePresence.process(of: .host, in: group) {
      if host.send(signal: Signal.terminate) == .refused { return error }
      // A stopped host handles the signal when it continues.
      let limit = BroadcastRequest.defaultFinishTimeout + HostRun.exitTimeout
      _ = host.waitForEnd(until: .after(limit))
    }
    let roles = FoundRoles(of: record, in: group).processes
    for role in roles { role.send(signal: Signal.terminate) }
    let deadline = Deadline.after(BroadcastRequest.defaultFinishTimeout)
    let left = roles.filter { !$0.stops(killAt: deadline) }
    // Recording the ending may succeed where recording the request failed.
    if let now = (try? board.read()) ?? nil, now.session == record.session,
      now.phase == .finished
    {
      return nil
    }
    return left.isEmpty ? .unrecorded(nil, why: error.cause) : error
  }
}
