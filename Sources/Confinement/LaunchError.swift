import Platform

/// Why a role's program was not started.
package enum LaunchError: Error, Hashable, Sendable {
  case noConfiner
  case noProgram(String)
  case system(SystemError)
  case refused(program: String, reason: String)
  /// A path or name with a control character, which no line can carry.
  case unsayable(String)
  case tooLong(byteCount: Int)
  /// A path that does not begin at the root.
  case notAbsolute(String)
  /// Paths or variables, more than a confinement can have.
  case tooMany(String, count: Int, limit: Int)
}

extension LaunchError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noConfiner:
      "the program framebus-confine is neither beside this one, nor in ../libexec/framebus, nor in"
        + " PATH; install it, or build it with `swift build --product framebus-confine`"
    case .noProgram(let path):
      "\(path) is no program that can be run; install it, or correct the path where it is named"
    case .system(let error): "cannot start a role: \(error)"
    case .refused(let program, let reason):
      "\(program) was not started: \(reason); `framebus doctor` says what this machine lacks"
    case .unsayable(let line):
      "a confinement cannot name \(line.debugDescription): rename it without control characters"
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
