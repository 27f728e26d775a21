import FrameBus
import Platform

/// A subscriber that checks every frame it receives, keeps some of them and checks those again,
/// and keeps the accounts: within a generation, received and dropped add up to the numbers passed.
final class Auditor: @unchecked Sendable {  // because one thread at a time uses it
  /// One publisher's frames, as this subscriber saw them.
  struct Account: Hashable {
    let generation: UInt64
    /// The number before the first that counts.
    let start: UInt64
    var last: UInt64
    var received: UInt64 = 0
    var dropped: UInt64 = 0
  }

  enum Outcome { case frame(UInt64), timedOut, finished }

  private var subscriber: Subscriber
  private let role: Role
  private let tasks: TaskThread?
  private let keeps: Int
  private var kept: [KeptFrame] = []
  private(set) var accounts: [Account] = []
  /// Of the newest frame, in pixels.
  private(set) var height = 0

  private final class KeptFrame {
    let lease: FrameLease
    init(_ lease: consuming FrameLease) { self.lease = lease }
  }

  /// - Parameters:
  ///   - role: how the subscriber receives.
  ///   - keeps: how many of the newest frames to hold, fewer than the granted holds.
  init(
    _ subscriber: consuming Subscriber, as role: Role, keeping keeps: Int = 0
  ) throws(SystemError) {
    self.role = role
    tasks = role == .tasks ? try TaskThread() : nil
    self.keeps = min(keeps, subscriber.grantedHolds - 1)
    self.subscriber = subscriber
  }

  var generation: UInt64? { subscriber.generation }
  var grantedHolds: Int { subscriber.grantedHolds }

  /// Receives the next frame, and checks it and those that are kept.
  func receive(until deadline: Deadline) throws -> Outcome {
    guard let tasks else { return try take(try subscriber.next(until: deadline)) }
    return try tasks.run { [self] in try take(try await subscriber.next(until: deadline)) }
  }

  private func take(_ reception: consuming Reception) throws -> Outcome {
    switch consume reception {
    case .frame(let lease):
      let number = lease.sequence.rawValue
      try ProofFrame.check(lease)
      try enter(lease)
      height = lease.format.height
      kept.append(KeptFrame(lease))
      if kept.count > keeps { kept.removeFirst() }
      return .frame(number)
    case .timedOut: return .timedOut
    case .stopped: return .timedOut
    case .finished:
      try checkKept()
      return .finished
    }
  }

  /// The kept frames are unchanged.
  func checkKept() throws { for frame in kept { try ProofFrame.check(frame.lease) } }

  func keepNothing() { kept = [] }

  private func enter(_ lease: borrowing FrameLease) throws(ProofError) {
    let number = lease.sequence.rawValue
    guard role.mayReceive(number, after: lease.droppedBefore) else {
      throw ProofError("frame \(number) after \(lease.droppedBefore) that were dropped: \(role)")
    }
    if accounts.last?.generation != lease.generation {
      let start = number - 1 - lease.droppedBefore
      accounts.append(Account(generation: lease.generation, start: start, last: start))
    }
    var account = accounts.removeLast()
    guard number == account.last + lease.droppedBefore + 1 else {
      throw ProofError(
        "frame \(number) after \(account.last) says that \(lease.droppedBefore) were dropped")
    }
    account.last = number
    account.received += 1
    account.dropped += lease.droppedBefore
    accounts.append(account)
  }

  /// Every frame was received or counted as dropped, in the sums as in the single frames.
  func checkAccounts() throws(ProofError) {
    let received = accounts.map(\.received).reduce(0, +)
    let dropped = accounts.map(\.dropped).reduce(0, +)
    // Frames passed over at a publisher's end are counted before no frame.
    guard subscriber.receivedCount == received, subscriber.droppedCount >= dropped else {
      throw ProofError(
        "\(subscriber.receivedCount) received and \(subscriber.droppedCount) dropped, but the "
          + "frames say \(received) and \(dropped)")
    }
    for account in accounts where account.last - account.start != account.received + account.dropped
    {
      throw ProofError("the accounts do not add up: \(account)")
    }
  }

  /// One line for the accounts of the newest generation.
  var summary: String {
    guard let account = accounts.last else { return "nothing" }
    return "generation \(account.generation) last \(account.last) "
      + "received \(account.received) dropped \(account.dropped)"
  }
}
