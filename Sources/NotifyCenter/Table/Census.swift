/// Who observes which row. Each seat is asked once whether its process lives, however many rows it
/// has marks at: a member can mark them all.
struct Census {
  private let all: [SeatsView]
  private var known: [Asked: NotificationStatus.Observer?] = [:]

  private struct Asked: Hashable {
    let view: Int
    let seat: Int
  }

  init(_ all: [SeatsView]) { self.all = all }

  mutating func observers(ofRow row: Int) -> [NotificationStatus.Observer] {
    var found: [NotificationStatus.Observer] = []
    for (view, seats) in all.enumerated() {
      seats.forEachObserver(ofRow: row) { seat in
        let asked = Asked(view: view, seat: seat)
        let observer = known[asked] ?? Self.observer(seat, in: seats)
        known[asked] = .some(observer)
        if let observer { found.append(observer) }
      }
    }
    return found
  }

  private static func observer(
    _ seat: Int, in seats: SeatsView
  ) -> NotificationStatus.Observer? {
    guard seats.isAlive(seat) else { return nil }
    return .init(processID: seats.processID(ofSeat: seat), userID: seats.ownerID)
  }
}
