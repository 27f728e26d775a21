import Platform

/// What GStreamer knows of its plugins, in a file that confined roles read and cannot write. Where
/// it is missing, each of their starts would look through all plugins, which takes seconds.
///
/// The product's own uploader makes it, unconfined, as any program of its user with GStreamer does
/// at its first start: what a confined role found would be nothing for others to load.
package enum PluginRegistry {
  /// What making it came to.
  package enum Outcome: Hashable, Sendable {
    case made
    /// Roles look themselves what is new since, which is little.
    case there
    /// There is no uploader here: a build without GStreamer.
    case noUploader
    /// Nobody can write it, or the uploader could not be run: roles look through all plugins.
    case missing(path: String)
  }

  /// Longer than looking through all plugins of a slow machine takes.
  private static let patience = Duration.seconds(60)

  /// Blocks the thread until it is made.
  package static func makeIfMissing() -> Outcome {
    guard let path = SystemPaths.pluginRegistry else { return .missing(path: "~/.cache") }
    if isThere(path) { return .there }
    let name = "framebus-upload"
    guard let program = siblingProgram(named: name) ?? programInPath(named: name) else {
      return .noUploader
    }
    var options = LaunchOptions(program, ["plugins"])
    options.output = .null
    options.errors = .null
    guard let process = try? ChildProcess(options) else { return .missing(path: path) }
    if process.wait(until: .after(patience)) == nil { process.end(with: Signal.kill) }
    return isThere(path) ? .made : .missing(path: path)
  }

  /// - Parameter path: of the file that GST_REGISTRY names, or of the folder that has it.
  private static func isThere(_ path: String) -> Bool {
    guard let names = try? Directory(path: path).names() else { return OutputFile(path).exists }
    return names.contains { $0.hasPrefix("registry.") && $0.hasSuffix(".bin") }
  }
}
