import Foundation
import Platform
import TestSupport
import Testing

@testable import FrameBus

@Suite struct LimitTests {
  @Test func sixtyFourSubscribersFitAndTheNextIsRefused() throws {
    let world = try World()
    var publisher = try world.publisher { $0.seatsPerUser = 64 }
    let crowd = try (0..<64).map { _ in Shelf(try world.subscriber { $0.holds = 16 }) }
    try waitUntil("all are seated") { publisher.subscriberCount == 64 }
    #expect(throws: SubscriberError.refused(world.stream, .full(seats: 64))) {
      _ = try world.subscriber()
    }
    try publishNumbered(&publisher)
    for shelf in crowd { #expect(try shelf.receivedNumber() == 1) }
    // The hold quota of 128 was shared out so that everybody got at least one.
    #expect(crowd.map(\.grantedHolds).reduce(0, +) <= 128)
    #expect(crowd.allSatisfy { $0.grantedHolds >= 1 })
  }

  @Test func freedSeatIsTakenByNextSubscriber() throws {
    let world = try World()
    let publisher = try world.publisher { $0.seatsPerUser = 64 }
    var crowd = try (0..<64).map { _ in Shelf(try world.subscriber()) }
    crowd.removeLast()
    var options = SubscriberOptions()
    options.holds = 4
    let next = try Subscriber(
      world.stream, in: world.group, options: options,
      waitingForPublisherUntil: .after(.seconds(30)))
    #expect(next.grantedHolds == 4)
    try waitUntil("it is seated") { publisher.subscriberCount == 64 }
  }

  @Test func oneUserCannotTakeAllSeats() throws {
    let world = try World()
    let publisher = try world.publisher { $0.seatsPerUser = 3 }
    let crowd = try (0..<3).map { _ in Shelf(try world.subscriber { $0.holds = 16 }) }
    #expect(throws: SubscriberError.refused(world.stream, .busy(taken: 3))) {
      _ = try world.subscriber()
    }
    // 3 of 64 seats, and so 6 of 128 holds.
    #expect(crowd.map(\.grantedHolds) == [4, 1, 1])
    withExtendedLifetime(publisher.subscriberCount) {}
  }

  @Test func quotaLeavesAHoldForEveryFreeSeat() {
    var options = PublisherOptions()
    for holdQuota in [64, 65, 128, 1024] {
      options.holdQuota = holdQuota
      let quota = Quota(options, slotBytes: 4096)
      var tenants: [Quota.Tenant] = []
      // Two guests fill the stream, the second after the first was detached.
      for uid: UInt32 in [1, 2] {
        while case .granted(let holds) = quota.answer(
          asked: 16, uid: uid, isOwner: false, besides: tenants)
        {
          #expect(holds >= 1)
          tenants.append(Quota.Tenant(uid: uid, holds: holds))
        }
      }
      #expect(tenants.count == 64)
      #expect(tenants.reduce(0) { $0 + $1.holds } <= holdQuota)
      #expect(quota.answer(asked: 1, uid: 3, isOwner: true, besides: tenants) == .full)
      let first = tenants.filter { $0.uid == 1 }
      #expect(
        quota.answer(asked: 1, uid: 1, isOwner: false, besides: first) == .busy(taken: 32))
      #expect(first.reduce(0) { $0 + $1.holds } <= holdQuota / 2)
    }
  }

  @Test func everyGrantedHoldCanBeUsedAndALoanStillSucceeds() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.holdQuota = 64
      $0.seatsPerUser = 64
    }
    let crowd = try (0..<64).map { _ in Shelf(try world.subscriber()) }
    for shelf in crowd {
      try publishNumbered(&publisher)
      try shelf.receiveAndHold()
    }
    for _ in 1...100 { try publishNumbered(&publisher) }
    for (index, shelf) in crowd.enumerated() { #expect(shelf.heldNumber == UInt64(index + 1)) }
  }

  @Test func aSecondPublisherIsRefused() throws {
    let world = try World()
    let publisher = try world.publisher()
    #expect {
      _ = try world.publisher()
    } throws: { error in
      if case .alreadyPublished(world.stream)? = error as? PublisherError { true } else { false }
    }
    withExtendedLifetime(publisher.subscriberCount) {}
  }

  @Test func aStreamWithoutPublisherIsAClearError() throws {
    let world = try World()
    #expect(throws: SubscriberError.noSuchStream(world.stream)) { _ = try world.subscriber() }
    _ = try world.publisher()
    #expect(throws: SubscriberError.noSuchStream(world.stream)) { _ = try world.subscriber() }
  }

  /// In a group of several users, only the publisher's own user could replace files left behind.
  @Test func aPublisherThatEndsLeavesItsNameToOtherUsers() throws {
    let world = try World()
    func names() throws -> Set<String> {
      try Set(FileManager.default.contentsOfDirectory(atPath: world.group.streamsPath))
    }
    for _ in 0..<2 {
      let publisher = try world.publisher()
      #expect(try names() == ["\(world.stream).lock", "\(world.stream).sock"])
      publisher.finish(.ended)
      #expect(try names() == [])
    }
  }

  /// A process that removes the lock file, such as a temporary file cleaner, admits a second one.
  @Test func aPublisherWhoseLockWasRemovedLeavesItsSuccessorAlone() throws {
    let world = try World()
    let first = try world.publisher()
    let lock = "\(world.group.streamsPath)/\(world.stream).lock"
    try FileManager.default.removeItem(atPath: lock)
    let second = try world.publisher()
    first.finish(.ended)
    _ = try world.subscriber()
    second.finish(.ended)
  }

  @Test func whatThePublisherDoesNotOfferIsRefused() throws {
    let world = try World()
    let publisher = try world.publisher()
    #expect(throws: SubscriberError.refused(world.stream, .losslessNotOffered)) {
      _ = try world.subscriber(.lossless(deadline: .seconds(1)))
    }
    #expect(throws: SubscriberError.refused(world.stream, .ringTooShallow(ringDepth: 2))) {
      _ = try world.subscriber(.keepLatest(3))
    }
    #expect(publisher.subscriberCount == 0)
  }

  @Test(.enabled(if: getuid() == 0, "only root can give files away"))
  func reasonThatKeepsAUserFromPublishingIsReported() throws {
    let world = try World()
    let lockPath = "\(world.group.streamsPath)/\(world.stream).lock"
    try Data().write(to: URL(filePath: lockPath))
    try FileManager.default.setAttributes([.ownerAccountID: 4242], ofItemAtPath: lockPath)
    #expect(refusal(in: world).contains("belongs to user 4242,"))
    #expect(refusal(in: world).contains(lockPath))
    try FileManager.default.removeItem(atPath: lockPath)
    try FileManager.default.createDirectory(atPath: lockPath, withIntermediateDirectories: false)
    #expect(refusal(in: world).contains("\(lockPath) is a directory"))
  }

  private func refusal(in world: World) -> String {
    do {
      _ = try world.publisher()
      return "none"
    } catch { return "\(error)" }
  }

  @Test(arguments: ["", "Screen", "a/b", "../x", "-x", "a b", String(repeating: "x", count: 49)])
  func namesThatAreNoFileNamesAreRefused(name: String) {
    #expect(throws: StreamNameError.self) { _ = try StreamName(name) }
  }
}

/// A subscriber, and perhaps a frame that it holds, where an array wants a copyable value.
final class Shelf: @unchecked Sendable {  // because one thread or task at a time uses it
  private var subscriber: Subscriber
  private var lease: FrameLease?
  let grantedHolds: Int

  init(_ subscriber: consuming Subscriber) {
    grantedHolds = subscriber.grantedHolds
    self.subscriber = subscriber
  }

  func receivedNumber() throws -> UInt64? { try FrameBusTests.receivedNumber(&subscriber) }
  func next() throws -> Reception { try subscriber.next(until: .after(.seconds(60))) }
  func nextNumberSuspended() async throws -> UInt64? {
    guard let lease = try await subscriber.next() else { return nil }
    return number(of: lease)
  }
  func receiveAndHold() throws {
    guard case .frame(let next) = try self.next() else { return }
    lease = consume next
  }
  var heldNumber: UInt64? {
    guard let lease = lease.take() else { return nil }
    let found = number(of: lease)
    self.lease = consume lease
    return found
  }
}
