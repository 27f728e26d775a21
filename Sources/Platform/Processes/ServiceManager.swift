import Glibc

/// The service manager that started this process and waits for word of it (sd_notify(3)).
package final class ServiceManager: Sendable {
  private let socket: DatagramSender
  /// How often this process has to report ``alive()``: twice as often as the manager requires;
  /// nil if it requires nothing.
  package let watchdogInterval: Duration?

  /// - Returns: nil if no manager waits, or its socket has no path.
  package init?() {
    guard let path = environmentValue("NOTIFY_SOCKET"), path.hasPrefix("/"),
      let socket = try? DatagramSender(to: path)
    else { return nil }
    self.socket = socket
    watchdogInterval = Self.watchdogInterval(
      microseconds: environmentValue("WATCHDOG_USEC"), process: environmentValue("WATCHDOG_PID"))
  }

  static func watchdogInterval(microseconds: String?, process: String?) -> Duration? {
    guard let limit = microseconds.flatMap(Int64.init), limit > 0,
      process.map({ Int32($0) == getpid() }) ?? true
    else { return nil }
    return .microseconds(max(1, limit / 2))
  }

  package func ready() { report("READY=1") }
  package func stopping() { report("STOPPING=1") }
  package func alive() { report("WATCHDOG=1") }
  /// - Parameter text: what `systemctl status` shows.
  package func status(_ text: String) {
    report("STATUS=\(text.prefix(1024).replacing("\n", with: " "))")
  }

  /// A manager that is gone, or does not read, misses the message.
  private func report(_ line: String) { _ = socket.send(Array(line.utf8)) }
}
