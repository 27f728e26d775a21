import ArgumentParser
import CommandLineSupport
import Platform

/// `framebus broadcast start --detach` where systemd runs for the user: the host is a service,
/// which systemd starts again if it is killed or its watchdog misses it.
extension BroadcastStart {
  /// As ``startDetachedHost()``. What the host prints and asks goes through this terminal too.
  func startService(
    _ service: UserService, _ host: LaunchOptions, _ pipe: consuming OneWayPipe,
    _ signals: SignalWatcher
  ) throws {
    var host = host
    // A service inherits nothing but its standard streams, so it opens the pipe here.
    let path = "/proc/\(currentProcessID())/fd/\(pipe.writeEnd.number)"
    host.arguments = Self.words(reportingTo: path)
    let starter = try service.start(host, description: "FrameBus broadcast")
    let watched = [
      pipe.readEnd.number, signals.stop.descriptorNumber, starter.descriptorNumber,
    ]
    var ready = try waitUntilReadable(watched, until: .never)
    if !ready[0], ready[1] {
      service.stop()
      ready = try waitUntilReadable([watched[0], watched[2]], until: .never)
    }
    // The host's report comes before its end.
    if try waitUntilReadable([watched[0]], until: .now)[0],
      let status = try readSome(pipe.readEnd.number).first
    {
      // It only waits for the service's end, and holds the terminal.
      starter.end(with: Signal.kill)
      if signals.isInterrupted { throw Interrupted() }
      if status != 0 { throw ExitCode(Int32(status)) }
      return
    }
    let status = starter.wait()
    if signals.isInterrupted { throw Interrupted() }
    switch status {
    case .exited(0)?: return
    case .exited(let status)?: throw ExitCode(status)
    case .killed?, nil: throw HostKilled()
    }
  }
}
