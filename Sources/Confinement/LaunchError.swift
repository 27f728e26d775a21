import Platform

/// Why a role's program was not started.
package enum LaunchError: Error, Hashable, Sendable {
  case noConfiner
  case noProgram(String)
  case system(SystemError)
  case refused(program: String, reason: String)
  /// A path or name contains a control character, which the request format cannot represent.
  case unsayable(String)
  case tooLong(byteCount: Int)
  /// A path is not absolute.
  case notAbsolute(String)
  /// More paths or variables than a request can have.
  case tooMany(String, count: Int, limit: Int)
}

extension LaunchError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noConfiner:
      "framebus-confine was not found beside this program, in ../libexec/framebus or in PATH;"
        + " install it, or build it with `swift build --product framebus-confine`"
    case .noProgram(let path):
      "\(path) is not an executable program; install it, or correct the path where it is set"
    case .system(let error): "cannot start a role: \(error)"
    case .refused(let program, let reason):
      "\(program) was not started: \(reason); `framebus doctor` shows what this machine lacks"
    case .unsayable(let line):
      "a confinement cannot name \(line.debugDescription): rename it, without control characters"
    case .tooLong(let byteCount):
      "a confinement of \(byteCount) bytes is longer than \(ConfinementText.maximumBytes):"
        + " grant directories instead of single files"
    case .notAbsolute(let path):
      "a confinement cannot grant \(path.debugDescription): use a path that begins with /"
    case .tooMany(let what, let count, let limit):
      "a confinement of \(count) \(what) is more than \(limit):"
        + " grant directories instead of single files"
    }
  }
}
