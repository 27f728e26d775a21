import Platform

/// Several subscribers, of whichever streams, waited for at once by one thread or task.
///
/// They take turns: who has just received comes last in the next look, so a fast stream keeps no
/// slow one waiting. A set belongs to one thread or isolation at a time, as a subscriber does.
///
/// ```swift
/// var set = try SubscriberSet()
/// let screen = try set.add(try Subscriber(screenStream, in: group))
/// let sound = try set.add(try Subscriber(soundStream, in: group))
/// while case .frame(let member, let lease) = try set.next() { … }
/// ```
public struct SubscriberSet: ~Copyable, Sendable {
  /// Subscribers in one set. Each takes at least three descriptors of the process.
  public static let maximumCount = 1024

  /// Names a subscriber in its set; never reused there.
  public struct Member: Hashable, Sendable, CustomStringConvertible {
    let id: UInt64
    public var description: String { "member \(id)" }
  }

  /// What waiting for all of them came to.
  public enum Arrival: ~Copyable, Sendable {
    case frame(Member, FrameLease)
    /// That member's publisher ended its stream. Told once; the member stays until it is removed.
    case finished(Member, FinishReason)
    case timedOut
    case stopped
    /// Every member has finished, or there is none.
    case nothingLeft
  }

  /// A member that cannot receive at all, told at each wait until it is removed.
  public struct MemberError: Error, Hashable, Sendable, CustomStringConvertible {
    public let member: Member
    public let error: ReceiveError
    public var description: String { "\(member): \(error)" }
  }

  public enum AddError: Error, Hashable, Sendable, CustomStringConvertible {
    case full(maximumCount: Int)

    public var description: String {
      switch self {
      case .full(let maximumCount):
        "the set has \(maximumCount) subscribers, as many as one set takes; use another set, on "
          + "another thread or task"
      }
    }
  }

  /// In order of their numbers.
  var seats: [Seat] = []
  private var nextID: UInt64 = 1
  /// The seat that is looked at first.
  private var turn = 0
  /// What the members' doorbells ring.
  let hub: Doorbell
  /// The members' bells and the hub's event, where the set waits on descriptors.
  let bells: ReadySet
  let hubEvent: EventCounter
  var words = FutexWaits()
  var spinBudget = SpinBudget()
  /// Wake-ups in a row by nobody who had a reason.
  var wakesWithoutCause = 0

  /// Fails only if the process is out of descriptors.
  public init() throws(SystemError) {
    let hubEvent = try EventCounter()
    let bells = try ReadySet()
    try bells.add(hubEvent.number, tag: 0)
    self.hubEvent = hubEvent
    self.bells = bells
    hub = Doorbell(hubEvent)
  }

  deinit { for seat in seats { seat.leave(bells) } }

  public var members: [Member] { seats.map(\.member) }

  /// Takes a subscriber in. How it sleeps, while the set waits, is the set's choice: see `next`.
  public mutating func add(_ subscriber: consuming Subscriber) throws(AddError) -> Member {
    guard seats.count < Self.maximumCount else { throw .full(maximumCount: Self.maximumCount) }
    let seat = Seat(Member(id: nextID), subscriber, hub)
    nextID += 1
    seats.append(seat)
    return seat.member
  }

  /// Gives a subscriber back, to be waited for alone or not at all.
  /// - Returns: nil if it is not, or no longer, in the set.
  public mutating func remove(_ member: Member) -> Subscriber? {
    guard let index = seats.firstIndex(where: { $0.member == member }) else { return nil }
    let seat = seats.remove(at: index)
    if turn > index { turn -= 1 }
    seat.leave(bells)
    return seat.subscriber.take()
  }

  /// Neither receives from a member nor waits for it until it is woken, as while there is no room
  /// for what it would bring.
  public mutating func setResting(_ member: Member, _ isResting: Bool) {
    seats.first { $0.member == member }?.isResting = isResting
  }

  /// `Subscriber.droppedCount` of a member.
  public func droppedCount(of member: Member) -> UInt64 {
    seats.first { $0.member == member }?.droppedCount ?? 0
  }

  /// Looks at the members, each once, from the one whose turn it is.
  /// - Returns: nil if there is nothing yet.
  mutating func look() throws(MemberError) -> Arrival? {
    for step in 0..<seats.count {
      let index = (turn + step) % seats.count
      let seat = seats[index]
      guard !seat.hasFinished, !seat.isResting else { continue }
      do throws(ReceiveError) {
        guard let found = try seat.look() else { continue }
        turn = index + 1
        return found
      } catch {
        turn = index + 1
        throw MemberError(member: seat.member, error: error)
      }
    }
    return seats.allSatisfy(\.hasFinished) ? .nothingLeft : nil
  }
}

/// A subscriber in a set.
final class Seat: @unchecked Sendable {  // because it belongs to its set, which has one user
  let member: SubscriberSet.Member
  var subscriber: Subscriber?
  private(set) var hasFinished = false
  var isResting = false
  /// Whether its last look found that something other than a frame has to happen first.
  private(set) var awaitsBell = false
  /// The bell that the set's descriptors hold.
  private var heldBell: BellSocket?

  init(_ member: SubscriberSet.Member, _ subscriber: consuming Subscriber, _ hub: Doorbell) {
    self.member = member
    subscriber.doorbell.forward(to: hub)
    self.subscriber = consume subscriber
  }

  func look() throws(ReceiveError) -> SubscriberSet.Arrival? {
    awaitsBell = false
    switch try subscriber?.lookAndArm() {
    case .frame(let lease): return .frame(member, lease)
    case .finished(let reason):
      hasFinished = true
      return .finished(member, reason)
    case .awaitBell: awaitsBell = true
    case .nothing: break
    case nil: break
    }
    return nil
  }

  /// The attachment whose frames are waited for, if it is that.
  var attachment: Attachment? {
    hasFinished || awaitsBell || isResting ? nil : subscriber?.attachment
  }

  var droppedCount: UInt64 {
    switch subscriber {
    case .some(let subscriber): subscriber.droppedCount
    case nil: 0
    }
  }

  var hasNews: Bool { attachment.map { subscriber?.hasNews($0) == true } ?? false }

  /// Whether a frame has come since the last look.
  var hasFrame: Bool { attachment.map { $0.cursor > subscriber?.position ?? 0 } ?? false }

  /// Puts the present bell among the set's descriptors. A bell that has fallen silent for ever, as
  /// its publisher has gone, is taken out.
  func hold(in bells: ReadySet) {
    let bell = attachment?.bell
    guard bell !== heldBell else { return }
    if let heldBell { bells.remove(heldBell.number) }
    heldBell = bell
    if let bell { try? bells.add(bell.number, tag: member.id) }
  }

  func silence(in bells: ReadySet) {
    // Its own event descriptor has to tell of what may lie there, should it leave the set now.
    subscriber?.eventSource?.counter.raise()
    guard let heldBell, !heldBell.silence() else { return }
    bells.remove(heldBell.number)
    subscriber?.attachment?.endWithBell()
  }

  func leave(_ bells: ReadySet) {
    if let heldBell { bells.remove(heldBell.number) }
    heldBell = nil
    subscriber?.doorbell.forward(to: nil)
  }
}
