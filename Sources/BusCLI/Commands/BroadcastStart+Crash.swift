import Broadcast
import CommandLineSupport
import Platform

/// `framebus broadcast start --on-crash FILE`: a black box.
extension BroadcastStart {
  /// Saves what an extension leaves that dies; nil without `--on-crash`.
  var crashSaver: ReplaySaver? {
    let words = global.optionArguments.filter { $0 != "--json" }
    return onCrash.map { ReplaySaver(path: $0, options: ["--crashed"] + words) }
  }

  /// Makes the saver save what this extension keeps.
  /// - Throws: `UsageError` if that keeps nothing.
  func prepare(
    _ saver: ReplaySaver?, for request: BroadcastRequest, _ controller: BroadcastController
  ) throws {
    guard let saver, let onCrash else { return }
    let manifest = try ExtensionRegistry(controller.group).manifest(of: request.extensionID)
    switch manifest.keepsReplay {
    case true?: break
    case false?:
      throw UsageError(
        "--on-crash \(onCrash.plain): the extension \(manifest.id.plain) does not upload to"
          + " replay:, so nothing would be left to save; register one that does, such as"
          + " `framebus extension register --builtin replay:60s`")
    case nil:
      global.terminal.warn(
        "--on-crash saves nothing unless \(manifest.executable.plain) uploads to replay:, which"
          + " only that program knows")
    }
    saver.use(request.leadingStream(for: manifest))
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
