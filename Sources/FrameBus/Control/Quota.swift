import CFrameLayout

/// Shares out the seats of a stream and the holds that its pool was made for, so that neither one
/// subscriber nor one user can have them all. A number cruncher: it knows no connection.
struct Quota {
  /// Frames that all subscribers together may hold.
  let holds: Int
  /// Subscribers that there may be at once.
  let seats: Int
  /// Seats that one user may take: the publisher's own, and any other.
  let seatsOfOwner: Int
  let seatsOfGuest: Int

  struct Tenant {
    let uid: UInt32
    let holds: Int
  }

  enum Answer: Equatable {
    case granted(holds: Int)
    case full
    case busy(taken: Int)
  }

  /// - Parameter slotBytes: of the pool; the larger they are, the fewer holds fit its bound.
  init(_ options: PublisherOptions, slotBytes: Int) {
    holds = options.holds(ofSlots: slotBytes)
    seats = min(Seats.count, holds)
    seatsOfOwner = max(1, options.seatsPerUser * seats / Seats.count)
    seatsOfGuest = max(1, min(seatsOfOwner, seats / 2))
  }

  /// What a newcomer gets beside those who have their seats. At least one hold, if any seat: one
  /// is kept for each seat that can still be taken, of all and of those of this user.
  func answer(asked: Int, uid: UInt32, isOwner: Bool, besides tenants: [Tenant]) -> Answer {
    guard tenants.count < seats else { return .full }
    let theirs = tenants.filter { $0.uid == uid }
    let most = isOwner ? seatsOfOwner : seatsOfGuest
    guard theirs.count < most else { return .busy(taken: theirs.count) }
    let left = Self.left(of: holds, among: seats, besides: tenants)
    let share = Self.left(of: holds * most / seats, among: most, besides: theirs)
    // Less than one where pictures have grown since the others came.
    guard left > 0 else { return .full }
    guard share > 0 else { return .busy(taken: theirs.count) }
    return .granted(holds: min(asked, left, share))
  }

  private static func left(of holds: Int, among seats: Int, besides tenants: [Tenant]) -> Int {
    holds - tenants.reduce(0) { $0 + $1.holds } - (seats - tenants.count - 1)
  }
}
