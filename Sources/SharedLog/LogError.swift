import AppGroup
import Platform

/// Why a log cannot be opened, read or saved.
public enum LogError: Error, Hashable, Sendable {
  /// This process may not take the role, or the group is damaged.
  case group(GroupError)
  /// An option has a value that is not possible; the text says which.
  case invalidOption(String, String)
  /// The directory of logs is missing, and this user cannot create it.
  case missingDirectory(path: String)
  /// A system call failed.
  case system(SystemError)
  /// Not all lines were on the disk at the deadline; the value is the last failure, if any.
  case notSaved(SystemError?)
}

extension LogError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .group(let error): error.description
    case .invalidOption(let what, let range): "\(what); use \(range)"
    case .missingDirectory(let path):
      "\(path) is missing, and only the group's owner can make it; ask them to run "
        + "`framebus group show`"
    case .system(let error) where error.reasonKind == .noSpace:
      "no room for the log (\(error)); free some, or set a smaller segmentBytes"
    case .system(let error) where error.reasonKind != .other: error.explained
    case .system(let error): "\(error); check the group with `framebus group doctor`"
    case .notSaved(let error?): "the log cannot be saved: \(error); free space, or see `df`"
    case .notSaved(nil): "the log was not saved in time; use a later deadline"
    }
  }
}

extension LogError: SystemFailure {
  package init(_ error: SystemError) { self = .system(error) }
}

/// Calls on the directories of a group's logs, which may be missing.
func opened<Result: ~Copyable>(
  in group: AppGroup, _ calls: () throws(SystemError) -> Result
) throws(LogError) -> Result {
  do { return try calls() } catch {
    if error.isMissing { throw .missingDirectory(path: error.path ?? group.logsPath) }
    throw .system(error)
  }
}
