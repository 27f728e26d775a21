import CFrameLayout

/// Shares out the places of a stream and the holds that its pool was made for, so that neither one
/// subscriber nor one user can have them all. A number cruncher: it knows no connection.
struct Quota {
  /// Frames that all subscribers together may hold.
  let holds: Int
  /// Subscribers that there may be at once.
  let places: Int
  /// Places that one user may take: the publisher's own, and any other.
  let placesOfOwner: Int
  let placesOfGuest: Int

  struct Seat {
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
    places = min(Places.count, holds)
    placesOfOwner = max(1, options.placesPerUser * places / Places.count)
    placesOfGuest = max(1, min(placesOfOwner, places / 2))
  }

  /// What a newcomer gets beside those who have their places. At least one hold, if any place: one
  /// is kept for each place that can still be taken, of all and of those of this user.
  func answer(asked: Int, uid: UInt32, isOwner: Bool, besides seats: [Seat]) -> Answer {
    guard seats.count < places else { return .full }
    let theirs = seats.filter { $0.uid == uid }
    let most = isOwner ? placesOfOwner : placesOfGuest
    guard theirs.count < most else { return .busy(taken: theirs.count) }
    let left = Self.left(of: holds, among: places, besides: seats)
    let share = Self.left(of: holds * most / places, among: most, besides: theirs)
    // Less than one where pictures have grown since the others came.
    guard left > 0 else { return .full }
    guard share > 0 else { return .busy(taken: theirs.count) }
    return .granted(holds: min(asked, left, share))
  }

  private static func left(of holds: Int, among places: Int, besides seats: [Seat]) -> Int {
    holds - seats.reduce(0) { $0 + $1.holds } - (places - seats.count - 1)
  }
}
