import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// Waiting on several streams at once. What all waits have in common is in WaitConformanceTests.
@Suite struct SubscriberSetTests {
  @Test func aFastStreamKeepsNoOtherWaiting() throws {
    let world = try World("fast")
    var fast = try world.publisher { $0.ringDepth = 8 }
    var slow = try world.publisher(of: "slow")
    var set = try SubscriberSet()
    let quick = try set.add(try world.subscriber(.keepLatest(8)))
    let rare = try set.add(try world.subscriber(of: "slow"))
    for _ in 1...5 { try publishNumbered(&fast) }
    try publishNumbered(&slow)
    #expect(
      try (1...6).map { _ in try arrival(&set) } == [quick, rare, quick, quick, quick, quick])
    #expect(try arrival(&set) == nil)
  }

  @Test func membersFinishOneByOneAndCanBeTakenOut() throws {
    let world = try World("first")
    let first = try world.publisher()
    let second = Press(try world.publisher(of: "second"))
    var set = try SubscriberSet()
    let one = try set.add(try world.subscriber())
    let two = try set.add(try world.subscriber(of: "second"))
    first.finish(.ended)
    guard case .finished(one, .ended) = try set.next(until: .after(.seconds(60))) else {
      Issue.record("the first has not finished")
      return
    }
    second.publish()
    #expect(try arrival(&set) == two)
    guard var taken = set.remove(two) else {
      Issue.record("the second is not there")
      return
    }
    #expect(set.members == [one])
    guard case .nothingLeft = try set.next() else {
      Issue.record("something is left")
      return
    }
    // With one subscriber left, it is woken as before.
    try startThread(named: "publisher") { second.publish() }
    guard case .frame(let lease) = try taken.next(until: .after(.seconds(60))) else {
      Issue.record("no frame")
      return
    }
    #expect(number(of: lease) == 2)
  }

  /// More than one system call can sleep on, and each of a different kind as well.
  @Test(arguments: [(3, 20, false), (3, 43, false), (2, 20, true)])
  func manySubscribersOfSeveralStreamsAreWaitedForAtOnce(
    streams: Int, each: Int, areMixed: Bool
  ) throws {
    let world = try World()
    let publishers = try (0..<streams).map {
      Press(try world.publisher(of: "s\($0)") { $0.holdQuota = 256 })
    }
    var set = try SubscriberSet()
    for index in 0..<(streams * each) {
      var options = SubscriberOptions()
      if areMixed { options.wait = WaitKind.allCases[index % 4] }
      _ = try set.add(
        try Subscriber(StreamName("s\(index % streams)"), in: world.group, options: options))
    }
    for round in 1...20 {
      let publisher = publishers[round % streams]
      try startThread(named: "publisher") { publisher.publish() }
      var seen: Set<SubscriberSet.Member> = []
      while seen.count < each {
        guard case .frame(let member, _) = try set.next(until: .after(.seconds(60))) else {
          Issue.record("round \(round): \(seen.count) of \(each)")
          return
        }
        #expect(seen.insert(member).inserted)
      }
    }
  }

  @Test func addingToAFullSetIsAnError() {
    #expect("\(SubscriberSet.AddError.full(maximumCount: 1024))".contains("another set"))
  }

  /// The stream of the next frame; nil if no frame is available.
  private func arrival(_ set: inout SubscriberSet) throws -> SubscriberSet.Member? {
    guard case .frame(let member, _) = try set.next(until: .now) else { return nil }
    return member
  }
}

/// A publisher that several threads use. Its frame is received before the thread that
/// published it is done, so the next thread may have to wait for it.
private final class Press: Sendable {
  private let publisher: Mutex<Publisher>
  init(_ publisher: consuming sending Publisher) { self.publisher = Mutex(publisher) }
  func publish() { publisher.withLock { _ = try? publishNumbered(&$0) } }
}

extension World {
  fileprivate func publisher(
    of stream: String, _ change: (inout PublisherOptions) -> Void = { _ in }
  ) throws -> Publisher {
    var options = PublisherOptions()
    change(&options)
    return try Publisher(
      StreamName(stream), in: group, format: try .video(.xrgb8888, width: 64, height: 4),
      options: options)
  }

  fileprivate func subscriber(of stream: String) throws -> Subscriber {
    try Subscriber(StreamName(stream), in: group)
  }
}
