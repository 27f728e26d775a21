import AppGroup
import Platform

/// Why a log cannot be opened, read or made safe.
public enum LogError: Error, Hashable, Sendable {
  /// This process may not take the role, or the group is not as it should be.
  case group(GroupError)
  case invalidOption(String, String)
  /// There is no directory for logs, and this user cannot make it.
  case missingDirectory(path: String)
  case system(SystemError)
  /// Not all was on the disk at the deadline.
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
      "no room for the log (\(error)); free some, or give it a smaller segment"
    case .system(let error) where error.reasonKind != .other: error.explained
    case .system(let error): "\(error); check the group with `framebus group doctor`"
    case .notSaved(let error?): "the log cannot be saved: \(error); free space, or see `df`"
    case .notSaved(nil): "the log was not saved in time; give it more"
    }
  }
}

/// Makes a call of Platform, whose error becomes a log's.
func attempt<Result: ~Copyable>(
  _ call: () throws(SystemError) -> Result
) throws(LogError) -> Result {
  do { return try call() } catch { throw .system(error) }
}

/// Makes calls on the directories of a group's logs, which may be missing.
func opened<Result: ~Copyable>(
  in group: AppGroup, _ calls: () throws(SystemError) -> Result
) throws(LogError) -> Result {
  do { return try calls() } catch {
    if error.isMissing { throw .missingDirectory(path: error.path ?? group.logsPath) }
    throw .system(error)
  }
}
