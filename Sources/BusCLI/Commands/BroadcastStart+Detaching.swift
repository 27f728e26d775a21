import ArgumentParser
import Broadcast
import CommandLineSupport
import NotifyCenter
import Platform

/// `framebus broadcast start --detach`. The command starts itself again, with a pipe, in a session
/// without a terminal: as a service, if systemd runs for the user. That process asks, starts the
/// roles and reports errors on the same terminal; once the broadcast is live, it lets go of the
/// terminal and writes the command's exit status to the pipe. Before that, Ctrl-C and the end of
/// the terminal stop the broadcast.
extension BroadcastStart {
  /// Waits until the host that this starts has let go of the terminal.
  /// - Throws: the exit status that the host reports, or its own if it has ended before.
  func startDetachedHost() throws {
    let signals = try SignalWatcher()
    let pipe = try OneWayPipe()
    var options = LaunchOptions(try ownProgramPath(), Self.words(reportingTo: "3"))
    if let service = UserService(named: "framebus-broadcast") {
      return try startService(service, options, pipe, signals)
    }
    options.input = .inherit
    options.inherited = [pipe.writeEnd.number]
    let host = try ChildProcess(options)
    let report = pipe.takeReadEnd()
    let ready = try waitUntilReadable(
      [report.number, signals.stop.descriptorNumber], until: .never)
    // A terminal that closes when the host has let go of it ends nothing.
    let isStopped = !ready[0]
    if isStopped { host.send(signal: Signal.interrupt) }
    if let status = try readSome(report.number).first {
      host.leaveRunning()
      // It let go before the signal reached it.
      if isStopped, signals.isInterrupted { throw Interrupted() }
      if status != 0 { throw ExitCode(Int32(status)) }
      return
    }
    switch host.wait() {
    case .exited(0)?: return
    case .exited(let status)?: throw ExitCode(status)
    case .killed?, nil: throw HostKilled()
    }
  }

  /// The words of this command line, with `--detach` replaced. It can only be the flag: no option
  /// takes a value that begins with hyphens.
  static func words(reportingTo pipe: String) -> [String] {
    let words = ownCommandLine().dropFirst()
    let end = words.firstIndex(of: "--") ?? words.endIndex
    return words[..<end].map { $0 == "--detach" ? "--detached-to=\(pipe)" : $0 } + words[end...]
  }

  // MARK: In the detached host

  /// Waits until the broadcast is live, paused or not reached, or that takes long.
  /// - Returns: false if the session has ended, or a signal requests the end.
  func waitUntilUp(
    _ detached: DetachedHost, _ session: SessionID, _ controller: BroadcastController,
    _ signals: SignalWatcher
  ) throws(BroadcastError) -> Bool {
    detached.limitWait()
    let note: @Sendable () -> Void = {
      if let status = try? controller.status, status.session == session { detached.note(status) }
    }
    // Another host may run the session, of which this process receives no events. Without the
    // observation, the wait is longer.
    let observation = try? controller.observe(note)
    defer { observation?.cancel() }
    note()
    let ending = signals.stop.observed(by: { detached.isUp.raise() }) {
      Result { () throws(BroadcastError) in
        try controller.waitForEnding(of: session, stop: detached.isUp)
      }
    }
    return try ending.get() == nil && !signals.stop.isRaised
  }

  /// Prints the session and lets go of the terminal.
  ///
  /// Nothing here ends this process with an error: it is the host, and the roles run.
  func letGo(
    _ detached: DetachedHost, of session: SessionID, _ controller: BroadcastController
  ) {
    var exitStatus: Int32 = 0
    do { exitStatus = try printSession(session, controller) } catch {
      global.terminal.warn("the broadcast runs, but its session cannot be printed: \(error)")
    }
    detached.letGo(exitStatus)
  }

  /// Prints the session, and why it is not live yet.
  /// - Returns: the exit status that says so.
  func printSession(
    _ session: SessionID, _ controller: BroadcastController
  ) throws -> Int32 {
    let status = try controller.status
    let report = DetachReport(session, status)
    let isWaiting = status.session == session && [.starting, .connecting].contains(status.phase)
    if isWaiting {
      let why = report.reason.isEmpty ? "" : ": \(report.reason.plain)"
      global.terminal.report("\(report.phase)\(why); see `framebus broadcast status`")
    }
    if global.json {
      try global.terminal.printJSON(report)
    } else {
      try global.terminal.print(session.text)
    }
    return isWaiting ? DetachedHost.notLiveStatus : 0
  }
}

/// The output of `--detach --json`. The names are a contract.
private struct DetachReport: Encodable {
  let session: String
  let phase: String
  /// Why the last attempt to reach the destination failed.
  let reason: String

  init(_ session: SessionID, _ status: BroadcastStatus) {
    self.session = session.text
    phase = status.phase.rawValue
    reason = status.connectionFailure
  }
}

/// The host's side of ``BroadcastStart/startDetachedHost()``.
final class DetachedHost: Sendable {
  /// The exit status of a command whose broadcast runs, and is not live.
  static let notLiveStatus: Int32 = 3
  /// How long the command waits for a destination that neither accepts a sample nor fails.
  static let timeoutSeconds = 30

  /// Raised once the command need not wait longer, and by a request to stop.
  let isUp: StopSignal
  private let report: SharedDescriptor
  /// Whether systemd has started this process, in a session of its own.
  let isService: Bool

  /// - Parameter pipe: the pipe on which the command waits: an inherited descriptor, or its path.
  /// - Returns: nil if the command is gone: systemd has started its host again.
  init?(reportingTo pipe: String) throws {
    isUp = try StopSignal()
    if let number = Int32(pipe), number > 2 {
      isService = false
      report = SharedDescriptor(owning: number)
      try beginOwnSession()
    } else {
      isService = true
      do { report = SharedDescriptor(owning: try openPipeEnd(pipe).release()) } catch {
        try silenceStandardStreams()
        return nil
      }
    }
  }

  /// Whether the command reports the event when it returns.
  static func isReportedLater(_ event: BroadcastEvent) -> Bool {
    if case .connecting(let failure) = event { !failure.isEmpty } else { false }
  }

  func note(_ status: BroadcastStatus) {
    let isUp =
      switch status.phase {
      case .live: true
      // A capture that has not published yet counts as lost.
      case .paused: !status.pauses.contains(.captureLost)
      case .connecting: !status.connectionFailure.isEmpty
      default: false
      }
    if isUp { self.isUp.raise() }
  }

  /// Raises ``isUp`` when the timeout has passed.
  func limitWait() {
    let deadline = Deadline.after(.seconds(Self.timeoutSeconds))
    try? startThread(named: "detach") { [isUp] in
      _ = try? waitUntilReadable([isUp.descriptorNumber], until: deadline)
      isUp.raise()
    }
  }

  /// - Parameter exitStatus: the command's.
  func letGo(_ exitStatus: Int32) {
    try? silenceStandardStreams()
    // The command may have been killed; the broadcast goes on.
    try? writeFully([UInt8(truncatingIfNeeded: exitStatus)], to: report.number)
  }
}

struct HostKilled: Error, CustomStringConvertible {
  var description: String {
    "the host of the broadcast was killed while it started; see `framebus broadcast status`"
  }
}
