import AppGroup
import Platform

/// Why a call of ``NotifyCenter`` failed.
public enum NotifyError: Error, Hashable, Sendable, CustomStringConvertible {
  case invalidName(String, why: String)
  /// A use of an observation after `cancel`.
  case cancelled(NotificationName)
  case invalidSignal(Int32)
  case notAuthorized(NotificationName, why: String)
  /// The manifest's policy does not let this role do that.
  case refused(NotificationRefusal)
  /// The kernel refused.
  case notPermitted(path: String)
  /// The manifest has a prefix whose files nobody has made yet.
  case missingTable(path: String)
  /// The table of names is full.
  case tooManyNames(NotificationName, maximum: Int)
  /// As many observers of this user are there as can be.
  case tooManyObservers(NotificationName, maximum: Int)
  /// What lies in the group's directory cannot be what FrameBus made.
  case untrusted(path: String, why: String)
  case group(GroupError)
  case system(SystemError)

  /// The number that `notify.h` has for it; 0 would be success.
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
      "“\(text.prefix(80))” cannot be the name of a notification: \(why)"
    case .cancelled(let name):
      "the observation of “\(name)” was cancelled; observe the name again"
    case .invalidSignal(let number):
      "there is no signal \(number) that a process can be sent; use one of `kill -l`"
    case .refused(let refusal): "\(refusal)"
    case .notAuthorized(let name, let why): "“\(name)”: \(why)"
    case .tooManyNames(let name, let maximum):
      "no room for “\(name)”: the group has \(maximum) names, as many as it can; use fewer, they "
        + "stay until the group's run directory goes"
    case .tooManyObservers(let name, let maximum):
      "“\(name)” cannot be observed: \(maximum) observers of this user are there, as many as can "
        + "be; stop some (`framebus notify list` shows who observes)"
    case .notPermitted(let path):
      "no permission to use \(path); ask the group's owner for `framebus group grant ROLE --uid N`"
    case .missingTable(let path):
      "\(path) is missing, as after a change of the manifest; the group's owner makes it by "
        + "opening the group, as with `framebus group show`"
    case .untrusted(let path, let why):
      "\(path) cannot be trusted: \(why); `framebus group doctor` checks the group"
    case .group(let error): "\(error)"
    case .system(let error): error.explained
    }
  }
}

/// Makes system calls, and gives a refusal its own case.
func attempt<Value: ~Copyable>(
  _ calls: () throws(SystemError) -> Value
) throws(NotifyError) -> Value {
  do {
    return try calls()
  } catch {
    if error.isAccessRefusal { throw .notPermitted(path: error.path ?? error.operation) }
    throw .system(error)
  }
}
