import CFrameLayout
import Foundation
import Platform
import TestSupport
import Testing

@testable import FrameBus

/// The stream state that publishers report, and the latencies that subscribers count.
@Suite struct InspectionTests {
  @Test func bucketsOfLatencyFollowEachOtherWithoutGap() {
    var end: UInt64 = 0
    for bucket in 0..<LatencyCounts.bucketCount {
      let range = LatencyCounts.range(ofBucket: bucket)
      #expect(range.lowerBound == end)
      #expect(LatencyCounts.bucket(of: range.lowerBound) == bucket)
      #expect(LatencyCounts.bucket(of: range.upperBound - 1) == bucket)
      if bucket >= 8 { #expect(UInt64(range.count) * 4 <= range.lowerBound) }
      end = range.upperBound
    }
    #expect(end == 1 << 33)
    #expect(LatencyCounts.bucket(of: .max) == LatencyCounts.bucketCount - 1)
  }

  @Test func quantilesAreOffByAQuarterAtMost() {
    let seed = TestSeed(for: #function)
    var generator = seed.generator
    var counts = LatencyCounts()
    let values = (0..<10_000).map { _ in
      UInt64.random(in: 1...1 << UInt64.random(in: 1...32, using: &generator), using: &generator)
    }
    for value in values { counts.count(value) }
    let sorted = values.sorted()
    for share in [0.01, 0.5, 0.9, 0.99, 1] {
      let exact = Double(sorted[Int(Double(sorted.count) * share) - 1])
      let found = Double(counts.quantileNs(share) ?? 0)
      #expect(abs(found - exact) <= exact * 0.25 + 1, "\(share): \(seed)")
    }
    #expect(LatencyCounts().quantileNs(0.5) == nil)
    #expect(counts.since(counts).total == 0)
  }

  @Test func framesThatAreTimedStandForAllOfThem() {
    // Of 64 frames one, whatever the stream's rhythm.
    for step in [1, 2, 3, 60, 64, 1000] as [UInt64] {
      let chosen = (1...200_000 as ClosedRange<UInt64>).count {
        LatencySampler.isChosen($0 * step + 17)
      }
      #expect((2900...3350).contains(chosen), "step \(step): \(chosen)")
    }
  }

  @Test func framesOfASlowStreamAreAllTimed() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber()
    for _ in 1...20 {
      try publishNumbered(&publisher)
      let published = monotonicNowNs()
      #expect(try receivedNumber(&subscriber) != nil)
      // The pause that makes a stream slow.
      while monotonicNowNs() - published < 600_000 {}
    }
    let status = try #require(try listStreams(in: world.group).first?.subscribers.first)
    #expect(status.latencies.total == 20)
    #expect(try #require(status.latencies.quantileNs(1)) > 0)
  }

  @Test func publisherReportsItsStateAndItsSubscribers() throws {
    let world = try World()
    var publisher = try world.publisher { $0.allowsLossless = true }
    var latest = try world.subscriber(.latest)
    let lossless = try world.subscriber(.lossless(deadline: .seconds(5)))
    for _ in 1...2 { try publishNumbered(&publisher) }
    guard let lease = try latest.poll() else {
      Issue.record("no frame")
      return
    }
    let status = try #require(try listStreams(in: world.group).first)
    #expect(status.publishedBytes == 2 * 64 * 4 * 4)
    #expect(status.cursor == 2)
    #expect(status.subscribers.map(\.received) == [1, 0])
    #expect(status.subscribers.map(\.dropped) == [1, 0])
    #expect(status.subscribers.map(\.lag) == [0, 2])
    #expect(status.subscribers.map(\.held) == [1, 0])
    #expect(status.subscribers.map(\.isLossless) == [false, true])
    #expect(status.subscribers.map(\.policy) == [.latest, .lossless])
    #expect(status.subscribers[0].dropped(for: .passedOver) == 1)
    withExtendedLifetime(lossless) {}
    _ = consume lease
  }

  @Test func aStoppedPublisherIsSilentAndIsAskedOnce() throws {
    let world = try World("stopped")
    let worker = try world.worker("publish")
    try worker.waitForOutput("publishing")
    let alive = try Publisher(
      StreamName("alive"), in: world.group, format: .video(.xrgb8888, width: 8, height: 8))
    worker.process.send(signal: SIGSTOP)
    let inspector = StreamInspector(world.group)
    let silent = StreamReport.silent(world.stream, publisherPID: worker.processID)
    try waitUntil("it has stopped") {
      try inspector.poll(timeout: .milliseconds(200)).last == silent
    }
    for _ in 1...200 {
      let reports = try inspector.poll(timeout: .milliseconds(2))
      #expect(reports.last == silent)
    }
    worker.process.send(signal: SIGCONT)
    // If each poll left a request behind, the socket's queue would be full for a subscriber.
    try waitUntil("it answers again") {
      guard case .answered(let status)? = try inspector.poll().last else { return false }
      return status.name == world.stream
    }
    withExtendedLifetime(alive.subscriberCount) {}
  }

  @Test func nonexistentSeatsAreNotSubscribers() throws {
    let world = try World()
    let publisher = try world.publisher()
    let socket = try MessageSocket.connect(to: world.group.endpoint(of: world.stream).socketPath)
    for seat in [0, 63, 64, .max] as [UInt64] {
      let question = fb_short_message(
        Int(FB_MESSAGE_INSPECT_SUBSCRIBER), value: seat)
      let isSent = socket.send(question) == .sent
      #expect(isSent)
      let isReadable = socket.waitUntilReadable(until: .after(.seconds(30)))
      #expect(isReadable)
      let message = try Message(from: socket)
      let details = message?.record(
        fb_subscriber_details(), kind: Int(FB_MESSAGE_SUBSCRIBER_STATUS))
      #expect(details?.subscriber.seat == UInt32(FB_SEAT_FREE))
    }
    withExtendedLifetime(publisher.subscriberCount) {}
  }
}
