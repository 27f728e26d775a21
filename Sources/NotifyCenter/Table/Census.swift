/// The observers of each row. Each registration is checked only once for a living process, even if
/// a hostile member marked all rows.
struct Census {
  private let all: [RegistrationsView]
  private var known: [Asked: NotificationStatus.Observer?] = [:]

  private struct Asked: Hashable {
    let view: Int
    let index: Int
  }

  init(_ all: [RegistrationsView]) { self.all = all }

  mutating func observers(ofRow row: Int) -> [NotificationStatus.Observer] {
    var found: [NotificationStatus.Observer] = []
    for (view, registrations) in all.enumerated() {
      registrations.forEachObserver(ofRow: row) { index in
        let asked = Asked(view: view, index: index)
        let observer = known[asked] ?? Self.observer(index, in: registrations)
        known[asked] = .some(observer)
        if let observer { found.append(observer) }
      }
    }
    return found
  }

  private static func observer(
    _ index: Int, in registrations: RegistrationsView
  ) -> NotificationStatus.Observer? {
    guard registrations.isAlive(index) else { return nil }
    return .init(
      processID: registrations.processID(ofRegistration: index), userID: registrations.ownerID)
  }
}
