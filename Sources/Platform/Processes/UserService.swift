import CLinuxShims
import Glibc

/// A service of the user's own systemd, which this process asks it to start (systemd-run(1)).
package struct UserService: Sendable {
  package let unit: String
  private let starter: String
  private let control: String

  /// - Parameter name: the unit's name is this, with a random number.
  /// - Returns: nil if systemd does not run for this user, or runs in other namespaces, where the
  ///   files, networks and processes of this one are not.
  package init?(named name: String) {
    guard let directory = environmentValue("XDG_RUNTIME_DIR"), directory.hasPrefix("/"),
      let starter = programInPath(named: "systemd-run"),
      let control = programInPath(named: "systemctl"),
      let manager = Self.manager(at: "\(directory)/systemd/private"),
      Self.sharesNamespaces(with: manager)
    else { return nil }
    unit = "\(name)-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).service"
    (self.starter, self.control) = (starter, control)
  }

  /// The process that listens at the path; nil if it is another user's.
  private static func manager(at path: String) -> Int32? {
    guard let descriptor = try? connectStream(to: path) else { return nil }
    let peer = try? MessageSocket(owning: descriptor).peer()
    guard let peer, peer.uid == getuid(), peer.uid == geteuid() else { return nil }
    return peer.pid
  }

  private static func sharesNamespaces(with process: Int32) -> Bool {
    guard let own = try? Directory(path: "/proc/self/ns"),
      let other = try? Directory(path: "/proc/\(process)/ns")
    else { return false }
    return ["ipc", "mnt", "net", "pid", "user"].allSatisfy { name in
      guard let link = try? own.linkText(of: name) else { return false }
      return link == (try? other.linkText(of: name))
    }
  }

  /// Starts the program with this process's standard streams, environment, directory and mask.
  ///
  /// It may create control groups. Systemd starts it again if a signal or its watchdog ends it, and
  /// not if it exits.
  /// - Returns: a process that ends with the service, and exits as it does. The service does not
  ///   need it.
  package func start(
    _ program: LaunchOptions, description: String
  ) throws(SystemError) -> ChildProcess {
    let mask = umask(0o077)
    umask(mask)
    let properties = [
      "Delegate=yes", "KillMode=mixed", "NoNewPrivileges=yes", "LockPersonality=yes",
      "SystemCallArchitectures=native", "Restart=on-abnormal", "RestartSec=2", "TimeoutStopSec=30",
      "UMask=\(octal(UInt32(mask)))", "WatchdogSec=6min",
    ]
    // What systemd says to this process is not meant for the service.
    let own = ["INVOCATION_ID", "JOURNAL_STREAM", "LISTEN_", "MANAGERPID", "NOTIFY_", "WATCHDOG_"]
    let variables = ownEnvironment().filter { entry in !own.contains { entry.hasPrefix($0) } }
    var options = LaunchOptions(
      starter,
      [
        "--user", "--quiet", "--collect", "--pipe", "--same-dir", "--service-type=exec",
        "--unit=\(unit)", "--description=\(description)",
      ] + properties.map { "--property=\($0)" } + variables.map { "--setenv=\($0)" }
        // Systemd would replace $NAME by a variable.
        + ["--", program.executable] + program.arguments.map { $0.replacing("$", with: "$$") })
    options.input = .inherit
    // The terminal's Ctrl-C is for this process, which then stops the service.
    options.hasOwnGroup = true
    return try ChildProcess(options)
  }

  /// Sends SIGTERM to the program, and waits until the service has ended.
  package func stop() {
    var options = LaunchOptions(control, ["--user", "--quiet", "stop", unit])
    options.errors = .null
    _ = try? ChildProcess(options).wait()
  }
}

/// Opens the writing end of another process's pipe, by its path in /proc.
package func openPipeEnd(_ path: String) throws(SystemError) -> Descriptor {
  Descriptor(
    owning: try retryingInterrupts("open", path: path) {
      // SAFETY: the path is copied for the call.
      unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    })
}
