import CommandLineSupport
import Platform

/// `framebus broadcast start --on-crash FILE`: a black box.
extension BroadcastStart {
  /// Saves what an extension leaves that dies; nil without `--on-crash`.
  var crashSaver: ReplaySaver? {
    let words = global.optionArguments.filter { $0 != "--json" }
    return onCrash.map { ReplaySaver(path: $0, options: ["--crashed"] + words) }
  }
}

extension ReplaySaver {
  /// Begins to save, while the host restarts the extension.
  func saveCrashed(_ terminal: Terminal) {
    do {
      try start { line in
        terminal.report("last minute before the crash: \(line.trimmingPrefix("error: "))")
      }
    } catch {
      terminal.warn("\(error)")
    }
  }
}
