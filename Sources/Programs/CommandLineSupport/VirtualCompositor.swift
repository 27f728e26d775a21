import Platform

/// A Wayland compositor without a monitor: sway, with its headless backend and software renderer.
///
/// sway refuses to run as root. Root starts it as a user ID that no account has, in a directory
/// that only root's group shares with it.
package struct VirtualCompositor: Sendable {
  /// The path of its socket, for `WAYLAND_DISPLAY`.
  package let socket: String
  package let server: StartedProgram
  private let folder: TemporaryFolder

  private static let prefix = "framebus-sway-"
  /// The first name that sway takes.
  private static let socketName = "wayland-1"
  /// Those that systemd gives to services for a while, so that no account has them.
  private static let transientUsers: ClosedRange<UInt32> = 61184...65519

  /// - Parameter commands: further lines of its configuration, as of sway(5).
  package init(width: Int, height: Int, commands: [String] = [], stop: StopSignal) throws {
    guard let path = programInPath(named: "sway") else {
      throw StartedProgramError.missing("sway", package: "sway")
    }
    TemporaryFolder.removeLeftovers(prefix: Self.prefix)
    folder = try TemporaryFolder(prefix: Self.prefix)
    do {
      let runtime = try Directory(path: folder.path).makeDirectory("run", mode: 0o700)
      let configuration =
        ["output * mode --custom \(width)x\(height)@60Hz", "default_border none"] + commands
      try runtime.replaceFile(
        "config", with: Array((configuration.joined(separator: "\n") + "\n").utf8), mode: 0o644,
        isSynced: false)
      let command = [path, "--config", runtime.path + "/config"]
      socket = runtime.path + "/" + Self.socketName
      server = try Self.start(
        currentUserID() == 0 ? Self.asOrdinaryUser(command, in: runtime, folder) : command,
        in: runtime.path)
    } catch {
      try? folder.remove()
      throw error
    }
    do { try waitUntilItListens(stop) } catch {
      close()
      throw error
    }
  }

  package func close() {
    server.stop()
    try? folder.remove()
  }

  /// The environment of a client.
  package var environment: [String: String?] { ["WAYLAND_DISPLAY": socket] }

  private static func start(_ command: [String], in runtime: String) throws -> StartedProgram {
    try StartedProgram(
      "sway", command[0], Array(command.dropFirst()),
      environment: [
        "XDG_RUNTIME_DIR": runtime, "SWAYSOCK": nil, "WAYLAND_DISPLAY": nil, "DISPLAY": nil,
        "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
        "WLR_HEADLESS_OUTPUTS": "1", "DBUS_SESSION_BUS_ADDRESS": nil,
      ])
  }

  /// The group of the runtime directory is root's, and so is that of the socket in it, which
  /// a confined process needs: it is root without root's capabilities.
  private static func asOrdinaryUser(
    _ command: [String], in runtime: borrowing Directory, _ folder: TemporaryFolder
  ) throws -> [String] {
    guard let shell = programInPath(named: "sh"), let change = programInPath(named: "setpriv")
    else { throw StartedProgramError.missing("setpriv", package: "util-linux") }
    let user = transientUsers.shuffled().first { UserAccount.find($0) == nil }
    guard let user else { throw StartedProgramError.noUser }
    try runtime.setOwner(user, group: 0)
    try runtime.setMode(0o2770)
    try Directory(path: folder.path).setMode(0o711)
    // A change of the user ends that sway dies with this process; setpriv begins it again.
    return [
      shell, "-c", "umask 007; exec \"$0\" \"$@\"", change, "--reuid=\(user)", "--regid=\(user)",
      "--clear-groups", "--inh-caps=-all", "--pdeathsig=KILL",
    ] + command
  }

  private func waitUntilItListens(_ stop: StopSignal) throws {
    let limit = Deadline.after(.seconds(20))
    while true {
      if (try? connectStream(to: socket)) != nil { return }
      if let error = server.errorIfEnded() { throw error }
      if stop.isRaised || limit.isPast {
        throw StartedProgramError.compositorDidNotStart(lastWords: server.lastWords)
      }
      _ = server.process.wait(until: .after(.milliseconds(20)), stop: stop)
    }
  }
}
