import Platform

/// What GStreamer knows of its plugins, in a file that confined roles read and cannot write. Where
/// it is missing, or seems out of date to who sees no device of the machine, each of their starts
/// would look through all plugins, which takes seconds.
///
/// The product's own uploader brings it up to date, unconfined, as any program of its user with
/// GStreamer does when it starts: what a confined role found would be nothing for others to load.
package enum PluginRegistry {
  /// What bringing it up to date came to.
  package enum Outcome: Hashable, Sendable {
    /// Roles need not look whether anything is new.
    case current
    /// There is no uploader here: a build without GStreamer.
    case noUploader
    /// Nobody can write it, or the uploader could not be run: roles look through all plugins.
    case missing(path: String)
  }

  /// Longer than looking through all plugins of a slow machine takes.
  private static let patience = Duration.seconds(60)

  /// Blocks the thread until it is done.
  package static func update() -> Outcome {
    guard let path = SystemPaths.pluginRegistry else { return .missing(path: "~/.cache") }
    let name = "framebus-upload"
    guard let program = siblingProgram(named: name) ?? programInPath(named: name) else {
      return .noUploader
    }
    var options = LaunchOptions(program, ["plugins"])
    options.output = .null
    options.errors = .null
    guard let process = try? ChildProcess(options) else { return .missing(path: path) }
    if process.wait(until: .after(patience)) == nil { process.end(with: Signal.kill) }
    return isThere(path) ? .current : .missing(path: path)
  }

  /// - Parameter path: of the file that GST_REGISTRY names, or of the folder that has it.
  private static func isThere(_ path: String) -> Bool {
    guard let names = try? Directory(path: path).names() else { return OutputFile(path).exists }
    return names.contains { $0.hasPrefix("registry.") && $0.hasSuffix(".bin") }
  }
}
