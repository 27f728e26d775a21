import Platform

/// Several subscribers, of any streams, for which one thread or task waits at once.
///
/// Members take turns: the member that received a frame is polled last the next time, so a fast
/// stream does not starve a slow one. A set belongs to one thread or isolation at a time, as a
/// subscriber does.
///
/// ```swift
/// var set = try SubscriberSet()
/// let screen = try set.add(try Subscriber(screenStream, in: group))
/// let sound = try set.add(try Subscriber(soundStream, in: group))
/// while case .frame(let member, let lease) = try set.next() { … }
/// ```
public struct SubscriberSet: ~Copyable, Sendable {
  /// The maximum number of subscribers in a set. Each uses at least three descriptors.
  public static let maximumCount = 1024

  /// Identifies a subscriber in its set; never reused there.
  public struct Member: Hashable, Sendable, CustomStringConvertible {
    let id: UInt64
    public var description: String { "member \(id)" }
  }

  /// The result of waiting for all members.
  public enum Arrival: ~Copyable, Sendable {
    /// A member received a frame.
    case frame(Member, FrameLease)
    /// That member's stream ended. Returned once; the member stays until it is removed.
    case finished(Member, FinishReason)
    /// The deadline has passed.
    case timedOut
    /// The stop signal was raised, or the task was cancelled.
    case stopped
    /// Every member has finished, or the set is empty.
    case nothingLeft
  }

  /// A member that cannot receive at all. Thrown at each wait until the member is removed.
  public struct MemberError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The member that fails.
    public let member: Member
    /// Why it fails.
    public let error: ReceiveError
    public var description: String { "\(member): \(error)" }
  }

  /// Why a subscriber was not added.
  public enum AddError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The set has as many subscribers as it may have.
    case full(maximumCount: Int)

    public var description: String {
      switch self {
      case .full(let maximumCount):
        "the set already has \(maximumCount) subscribers, the limit; use another set, on another "
          + "thread or task"
      }
    }
  }

  /// Ordered by member number.
  var entries: [SetEntry] = []
  private var nextID: UInt64 = 1
  /// The entry to poll first.
  private var turn = 0
  /// Rung by the members' doorbells.
  let hub: Doorbell
  /// The members' bells and the hub's event, for waiting on descriptors.
  let bells: ReadySet
  let hubEvent: EventCounter
  var words = FutexWaits()
  var spinBudget = SpinBudget()
  /// Consecutive wake-ups without a cause.
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

  deinit { for entry in entries { entry.leave(bells) } }

  /// Its members, in the order in which they were added.
  public var members: [Member] { entries.map(\.member) }

  /// Adds a subscriber. The set chooses how to wait for it: see `next`.
  public mutating func add(_ subscriber: consuming Subscriber) throws(AddError) -> Member {
    guard entries.count < Self.maximumCount else { throw .full(maximumCount: Self.maximumCount) }
    let entry = SetEntry(Member(id: nextID), subscriber, hub)
    nextID += 1
    entries.append(entry)
    return entry.member
  }

  /// Removes a subscriber and returns it.
  /// - Returns: nil if the subscriber is not in the set.
  public mutating func remove(_ member: Member) -> Subscriber? {
    guard let index = entries.firstIndex(where: { $0.member == member }) else { return nil }
    let entry = entries.remove(at: index)
    if turn > index { turn -= 1 }
    entry.leave(bells)
    return entry.subscriber.take()
  }

  /// Suspends or resumes receiving from a member, for example while there is no room for its frame.
  public mutating func setResting(_ member: Member, _ isResting: Bool) {
    entries.first { $0.member == member }?.isResting = isResting
  }

  /// Changes `Subscriber.demand` of a member.
  public mutating func setDemand(_ demand: Demand, of member: Member) {
    guard let entry = entries.first(where: { $0.member == member }) else { return }
    if entry.subscriber?.demand != demand { entry.subscriber?.demand = demand }
  }

  /// `Subscriber.droppedCount` of a member.
  public func droppedCount(of member: Member) -> UInt64 {
    entries.first { $0.member == member }?.droppedCount ?? 0
  }

  /// `Subscriber.pauseReason` of a member.
  public func pauseReason(of member: Member) -> PauseReason? {
    entries.first { $0.member == member }?.pauseReason
  }

  /// Why the publisher of a member's stream has ended it, even if frames are left to receive.
  package func finishReason(of member: Member) -> FinishReason? {
    entries.first { $0.member == member }?.subscriber?.attachment?.finishReason
  }

  /// `Subscriber.content` of a member.
  public func content(of member: Member) -> StreamContent? {
    entries.first { $0.member == member }?.content
  }

  /// Polls each member once, from the one whose turn it is.
  /// - Returns: nil if there is no arrival yet.
  mutating func pollMembers() throws(MemberError) -> Arrival? {
    for step in 0..<entries.count {
      let index = (turn + step) % entries.count
      let entry = entries[index]
      guard !entry.hasFinished, !entry.isResting else { continue }
      do throws(ReceiveError) {
        guard let found = try entry.poll() else { continue }
        turn = index + 1
        return found
      } catch {
        turn = index + 1
        throw MemberError(member: entry.member, error: error)
      }
    }
    return entries.allSatisfy(\.hasFinished) ? .nothingLeft : nil
  }
}

/// A subscriber in a set.
final class SetEntry: @unchecked Sendable {  // because it belongs to its set, which has one user
  let member: SubscriberSet.Member
  var subscriber: Subscriber?
  private(set) var hasFinished = false
  var isResting = false
  /// Whether its last poll returned `.awaitBell`.
  private(set) var awaitsBell = false
  /// The bell that is in the set's descriptors.
  private var heldBell: BellSocket?

  init(_ member: SubscriberSet.Member, _ subscriber: consuming Subscriber, _ hub: Doorbell) {
    self.member = member
    subscriber.doorbell.forward(to: hub)
    self.subscriber = consume subscriber
  }

  func poll() throws(ReceiveError) -> SubscriberSet.Arrival? {
    awaitsBell = false
    switch try subscriber?.pollAndArm() {
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

  /// The attachment, if the set waits for its frames.
  var attachment: Attachment? {
    hasFinished || awaitsBell || isResting ? nil : subscriber?.attachment
  }

  var droppedCount: UInt64 {
    switch subscriber {
    case .some(let subscriber): subscriber.droppedCount
    case nil: 0
    }
  }

  var content: StreamContent? { subscriber?.attachment?.content }
  var pauseReason: PauseReason? {
    if case .paused(let reason)? = subscriber?.attachment?.state { reason } else { nil }
  }

  var hasNews: Bool { attachment.map { subscriber?.hasNews($0) == true } ?? false }

  /// Whether a frame has come since the last poll.
  var hasFrame: Bool { attachment.map { $0.cursor > subscriber?.position ?? 0 } ?? false }

  /// Adds the current bell to the set's descriptors, and removes the bell of a publisher that died.
  func hold(in bells: ReadySet) {
    let bell = attachment?.bell
    guard bell !== heldBell else { return }
    if let heldBell { bells.remove(heldBell.number) }
    heldBell = bell
    if let bell { try? bells.add(bell.number, tag: member.id) }
  }

  func silence(in bells: ReadySet) {
    // Keeps its own event descriptor readable, in case the subscriber leaves the set now.
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
