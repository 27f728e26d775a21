import AppGroup
import NotifyCenter
import Platform
import Synchronization

// An adapter: the Darwin notification center under Core Foundation's names, over NotifyCenter, so
// that Swift written for it compiles and works with its import changed.
//
// A separate module, so that Core Foundation's names are visible only to programs that import it.
// It refuses to offer more of Core Foundation than these functions need.
// docs/design/notify-names.md lists the differences and the reasons for them.

/// The notifications of one group, under Core Foundation's names.
public final class CFNotificationCenter: Sendable {
  private struct Registration {
    /// The address of the observer, which is never dereferenced here.
    let observer: UInt
    let observation: Observation
  }

  private let center: Result<NotifyCenter, DarwinCenterError>
  private let registrations = Mutex<[Registration]>([])
  private let lastProblem = Mutex<String?>(nil)

  /// Creates a center for a group and a role of the program's choice.
  public init(_ center: NotifyCenter) { self.center = .success(center) }

  /// The center that ``CFNotificationCenterGetDarwinNotifyCenter()`` returns.
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
      // Under the lock: the first call may arrive before this returns, and remove this observer.
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
    // Without the lock: this waits for a running closure, which may itself add and remove.
    for registration in removed { registration.observation.cancel() }
  }

  /// Core Foundation's functions return nothing, so failures are reported on standard error: each
  /// problem once, not for each of a thousand posts.
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
    if isNew { try? writeFully(Array("notifications: \(problem.plain)\n".utf8), to: 2) }
  }
}

/// Why the Darwin center is unavailable.
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

/// Opens the center of the group in `FRAMEBUS_GROUP` (under `FRAMEBUS_HOME`, if that is set),
/// otherwise of the local group; as host if the user has that role, otherwise in the first of the
/// user's roles.
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
