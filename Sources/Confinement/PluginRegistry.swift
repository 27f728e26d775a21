import Platform

/// GStreamer's plugin registry, a file that confined roles can read but not write. If it is
/// missing, or looks outdated to a role that sees no devices, each role scans all plugins at its
/// start, which takes seconds.
///
/// The unconfined uploader updates it, as every program that uses GStreamer does at its start. A
/// confined role must not: other programs would load what it writes.
package enum PluginRegistry {
  /// Result of an update.
  package enum Outcome: Hashable, Sendable {
    /// The registry is current: roles need not check it.
    case current
    /// There is no uploader, as in a build without GStreamer.
    case noUploader
    /// It cannot be written, or the uploader failed to run: roles scan all plugins.
    case missing(path: String)
  }

  /// Longer than scanning all plugins takes on a slow machine.
  private static let timeout = Duration.seconds(60)

  /// Updates the registry. Blocks the thread until done.
  /// - Parameters:
  ///   - user: the user whose registry it is; nil for this process's.
  ///   - launcher: starts the uploader as that user.
  /// - Returns: nil if `stop` was raised first.
  package static func update(
    of user: UserAccount?, by launcher: Launcher, stop: StopSignal
  ) -> Outcome? {
    guard let path = SystemPaths.pluginRegistry(of: user) else { return .missing(path: "~/.cache") }
    let name = "framebus-upload"
    guard let program = siblingProgram(named: name) ?? programInPath(named: name) else {
      return .noUploader
    }
    var options = LaunchOptions(program, ["plugins"])
    options.output = .null
    options.errors = .null
    options.environment = user?.environment ?? [:]
    guard let role = try? launcher.start(options, confinement: nil, as: user) else {
      return .missing(path: path)
    }
    if role.wait(until: .after(timeout), stop: stop) == nil {
      // With its scanner, which is in its process group.
      role.process.sendToGroup(signal: Signal.kill)
      _ = role.wait()
      if stop.isRaised { return nil }
    }
    return exists(path) ? .current : .missing(path: path)
  }

  /// - Parameter path: the file that GST_REGISTRY names, or the directory of registries.
  private static func exists(_ path: String) -> Bool {
    guard let names = try? Directory(path: path).names() else { return OutputFile(path).exists }
    return names.contains { $0.hasPrefix("registry.") && $0.hasSuffix(".bin") }
  }
}
