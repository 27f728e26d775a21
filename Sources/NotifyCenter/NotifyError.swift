import AppGroup
import Platform

/// Why a call of ``NotifyCenter`` failed.
public enum NotifyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text cannot name a notification.
  case invalidName(String, why: String)
  /// A use of an observation after `cancel`.
  case cancelled(NotificationName)
  /// No handler can be set for this signal.
  case invalidSignal(Int32)
  /// The manifest does not let this role do it.
  case notAuthorized(NotificationName, why: String)
  /// The manifest's policy forbids this to the role.
  case refused(NotificationRefusal)
  /// The kernel denied access.
  case notPermitted(path: String)
  /// The manifest has a prefix whose files do not exist yet.
  case missingTable(path: String)
  /// The table of names is full.
  case tooManyNames(NotificationName, maximum: Int)
  /// This user has the maximum number of observers.
  case tooManyObservers(NotificationName, maximum: Int)
  /// A file in the group's directory is not one that FrameBus made.
  case untrusted(path: String, why: String)
  /// The group cannot be used.
  case group(GroupError)
  /// A system call failed.
  case system(SystemError)

  /// The status code of `notify.h` for this error; never 0, which is success.
  public var status: UInt32 {
    switch self {
    case .invalidName: 1
    case .cancelled: 2
    case .invalidSignal: 5
    case .notAuthorized, .refused, .notPermitted: 7
    case .group, .missingTable: 9
    case .tooManyNames, .tooManyObservers, .untrusted, .system: 1_000_000
    }
  }

  public var description: String {
    switch self {
    case .invalidName(let text, let why):
      "“\(text.prefix(80))” is not a valid notification name: \(why)"
    case .cancelled(let name):
      "the observation of “\(name)” was cancelled; observe the name again"
    case .invalidSignal(let number):
      "signal \(number) cannot be sent to a process; use one of `kill -l`"
    case .refused(let refusal): "\(refusal)"
    case .notAuthorized(let name, let why): "“\(name)”: \(why)"
    case .tooManyNames(let name, let maximum):
      "no room for “\(name)”: the group has the maximum of \(maximum) names; use fewer, they stay "
        + "until the group's run directory is removed"
    case .tooManyObservers(let name, let maximum):
      "“\(name)” cannot be observed: this user has the maximum of \(maximum) observers; stop some "
        + "(`framebus notify list` shows who observes)"
    case .notPermitted(let path):
      "no permission to use \(path); ask the group's owner for `framebus group grant ROLE --uid N`"
    case .missingTable(let path):
      "\(path) is missing, as after a change of the manifest; the group's owner creates it by "
        + "opening the group, as with `framebus group show`"
    case .untrusted(let path, let why):
      "\(path) cannot be trusted: \(why); `framebus group doctor` checks the group"
    case .group(let error): "\(error)"
    case .system(let error): error.explained
    }
  }
}

extension NotifyError: SystemFailure {
  package init(_ error: SystemError) {
    self =
      error.isAccessRefusal
      ? .notPermitted(path: error.path ?? error.operation) : .system(error)
  }
}
