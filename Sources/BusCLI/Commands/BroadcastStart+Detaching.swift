import ArgumentParser
import Broadcast
import CommandLineSupport
import Platform

/// `framebus broadcast start --detach`. The command starts itself again, with a pipe, in a session
/// without a terminal. That process asks, starts the roles and reports errors on the same terminal;
/// once the roles run, it lets go of the terminal and writes to the pipe.
extension BroadcastStart {
  /// Waits until the host that this starts has let go of the terminal.
  /// - Throws: the host's own exit status if it has ended before.
  func startDetachedHost() throws {
    let signals = try SignalWatcher()
    let pipe = try OneWayPipe()
    var options = LaunchOptions(try ownProgramPath(), Self.words(reportingTo: 3))
    options.input = .inherit
    options.inherited = [pipe.writeEnd.number]
    let host = try ChildProcess(options)
    let report = pipe.takeReadEnd()
    if try waitUntilReadable([report.number, signals.stop.descriptorNumber], until: .never)[1] {
      host.send(signal: Signal.interrupt)
    }
    if try !readSome(report.number).isEmpty { return host.leaveRunning() }
    switch host.wait() {
    case .exited(0)?: return
    case .exited(let status)?: throw ExitCode(status)
    case .killed?, nil: throw HostKilled()
    }
  }

  /// The words of this command line, with `--detach` replaced. It can only be the flag: no option
  /// takes a value that begins with hyphens.
  private static func words(reportingTo number: Int32) -> [String] {
    let words = ownCommandLine().dropFirst()
    let end = words.firstIndex(of: "--") ?? words.endIndex
    return words[..<end].map { $0 == "--detach" ? "--detached-to=\(number)" : $0 } + words[end...]
  }
}

/// The host's side of ``BroadcastStart/startDetachedHost()``.
final class DetachedHost: Sendable {
  /// Raised once the roles run, and by a request to stop.
  let isUp: StopSignal
  private let report: SharedDescriptor

  /// - Parameter number: the pipe on which the command waits.
  init(reportingTo number: Int32) throws {
    isUp = try StopSignal()
    report = SharedDescriptor(owning: number)
    try beginOwnSession()
  }

  func note(_ event: BroadcastEvent) {
    switch event {
    case .live, .resumed: isUp.raise()
    // A capture that has not published yet counts as lost.
    case .paused(let reasons) where !reasons.contains(.captureLost): isUp.raise()
    default: break
    }
  }

  func letGo() throws {
    try silenceStandardStreams()
    // The command may have been killed; the broadcast goes on.
    try? writeFully([1], to: report.number)
  }
}

private struct HostKilled: Error, CustomStringConvertible {
  var description: String {
    "the host of the broadcast was killed while it started; see `framebus broadcast status`"
  }
}
