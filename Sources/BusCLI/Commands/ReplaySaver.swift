import CommandLineSupport
import FrameBus
import Platform
import Synchronization

/// Saves replays by `framebus-upload`, one process each, to files that do not exist yet.
final class ReplaySaver: Sendable {
  private let path: String
  private let options: [String]
  /// Nil for that of the options, or the default one.
  private let stream = Mutex<StreamName?>(nil)
  private let started = Mutex<[(program: StartedProgram, path: String)]>([])

  /// - Parameters:
  ///   - path: the first file; those after it are called NAME-2, NAME-3 and so on.
  ///   - options: of `framebus replay save`.
  init(path: String, options: [String]) {
    self.path = path
    self.options = options
  }

  /// Saves the replay of this stream from now on.
  func use(_ stream: StreamName?) { self.stream.withLock { $0 = stream } }

  /// Begins to save, and returns at once.
  /// - Parameter onLine: called with each line that the program prints, on another thread.
  @discardableResult func start(
    onLine: (@Sendable (Substring) -> Void)? = nil
  ) throws -> StartedProgram {
    guard let program = siblingProgram(named: "framebus-upload") else {
      throw MissingProgram(name: "framebus-upload")
    }
    let choice = stream.withLock { $0.map { ["--stream", $0.text] } ?? [] }
    return try started.withLock { started in
      // One that has ended has made its file, or failed.
      let running = started.filter { $0.program.process.status == nil }
      let path = freePath(besides: running.map(\.path))
      let saving = try StartedProgram(
        "framebus-upload", program, ["save-replay"] + options + choice + ["--", path],
        onLine: onLine)
      started.append((saving, path))
      return saving
    }
  }

  /// Waits until everything is saved.
  func wait() {
    for saving in started.withLock({ $0 }) {
      _ = saving.program.process.wait()
      _ = saving.program.errorIfEnded()
    }
  }

  private func freePath(besides taken: [String]) -> String {
    let dot = path.lastIndex(of: ".") ?? path.endIndex
    var (next, number) = (path, 1)
    while taken.contains(next) || OutputFile(next).exists {
      number += 1
      next = "\(path[..<dot])-\(number)\(path[dot...])"
    }
    return next
  }
}
