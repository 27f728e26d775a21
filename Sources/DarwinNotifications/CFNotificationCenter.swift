import AppGroup
import NotifyCenter
import Platform
import Synchronization

// The Darwin notification center as Core Foundation spells it, over NotifyCenter, so that Swift
// written for it compiles and works with its import changed.
//
// A module of its own, because its names are Core Foundation's, which nobody should meet who did
// not ask for them. It refuses to be more of Core Foundation than these functions need. What
// differs, and why: docs/design/notify-names.md.

/// The notifications of one group, as Core Foundation names them.
public final class CFNotificationCenter: Sendable {
  private struct Registration {
    /// The number of the observer's pointer, which is never followed here.
    let observer: UInt
    let observation: Observation
  }

  private let center: Result<NotifyCenter, DarwinCenterError>
  private let registrations = Mutex<[Registration]>([])
  private let lastProblem = Mutex<String?>(nil)

  /// A center for a group and a role of the program's choice.
  public init(_ center: NotifyCenter) { self.center = .success(center) }

  /// What ``CFNotificationCenterGetDarwinNotifyCenter()`` returns.
  static let darwin = CFNotificationCenter()

  private init() {
    center = Result { () throws(DarwinCenterError) in try openDarwinCenter() }
  }

  func post(_ name: CFString) {
    attempt { (center) throws(NotifyError) in try center.post(NotificationName(name)) }
  }

  func observe(_ name: CFString, as observer: UInt, _ handler: @escaping @Sendable () -> Void) {
    attempt { (center) throws(NotifyError) in
      let name = try NotificationName(name)
      // With the lock: the first call may come before this returns, and remove what is added here.
      try registrations.withLock { registrations throws(NotifyError) in
        let observation = try center.observe(name) { _ in handler() }
        registrations.append(Registration(observer: observer, observation: observation))
      }
    }
  }

  /// - Parameter name: nil for every name.
  func remove(_ observer: UInt, _ name: CFString?) {
    func isMeant(_ registration: Registration) -> Bool {
      registration.observer == observer
        && (name == nil || registration.observation.name.text == name)
    }
    let removed = registrations.withLock { registrations in
      defer { registrations.removeAll(where: isMeant) }
      return registrations.filter(isMeant)
    }
    // Without the lock: this waits for a closure that is running, which may itself add and remove.
    for registration in removed { registration.observation.cancel() }
  }

  /// Core Foundation's functions return nothing, so what fails is said on standard error; once, not
  /// at each of a thousand posts.
  private func attempt(_ work: (NotifyCenter) throws(NotifyError) -> Void) {
    let problem: String
    do {
      return try work(center.get())
    } catch {
      problem = "\(error)"
    }
    let isNew = lastProblem.withLock { last in
      defer { last = problem }
      return last != problem
    }
    if isNew { try? writeFully(Array("notifications: \(problem)\n".utf8), to: 2) }
  }
}

/// Why there is no Darwin center.
enum DarwinCenterError: Error, CustomStringConvertible {
  case groupID(GroupIDError)
  case group(GroupError)
  case center(NotifyError)

  var description: String {
    switch self {
    case .groupID(let error): "FRAMEBUS_GROUP: \(error)"
    case .group(let error): "\(error)"
    case .center(let error): "\(error)"
    }
  }
}

/// The center of the group in `FRAMEBUS_GROUP` (below `FRAMEBUS_HOME`, if that is set), else of the
/// local group; as host if the process may be that, else in the first of its roles.
private func openDarwinCenter() throws(DarwinCenterError) -> NotifyCenter {
  var id = GroupID.local
  if let text = environmentValue(GroupVariables.group) {
    do { id = try GroupID(text) } catch { throw .groupID(error) }
  }
  let group: AppGroup
  do {
    group = try AppGroup.open(id, root: environmentValue(GroupVariables.home))
  } catch {
    throw .group(error)
  }
  let roles = group.ownRoles
  do {
    return try NotifyCenter(group, role: roles.contains(.host) ? .host : roles.first ?? .host)
  } catch {
    throw .center(error)
  }
}
