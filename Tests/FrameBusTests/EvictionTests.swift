import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A subscriber that does not map the memory it is sent loses its seat, but none of its leases.
@Suite(.serialized) struct EvictionTests {
  @Test func stoppedSubscriberIsEvictedKeepsItsLeasesAndReattaches() throws {
    let world = try World()
    var publisher = try world.publisher()
    let worker = try world.worker(
      "subscribe", "policy=keep:2", "holds=2", "keep=1", "frames=100")
    try waitUntil("it is seated") { publisher.subscriberCount == 1 }
    try publishWhole(&publisher)
    try worker.waitForOutput("received 1 ")
    try stop(worker)
    try growThreeTimes(&publisher)
    try waitUntil("it is evicted") { try listStreams(in: world.group).first?.evictions == 1 }
    #expect(publisher.subscriberCount == 0)
    for _ in 1...100 { try publishWhole(&publisher) }
    worker.process.send(signal: 18)
    try worker.waitForOutput("event evicted")
    try worker.waitForOutput("event publisherBack")
    try waitUntil("it has received enough") {
      try publishWhole(&publisher)
      sleep(until: .after(.milliseconds(1)))
      return worker.output.text.contains("done received 100")
    }
    let result = try worker.finish()
    #expect(!result.output.contains("TORN"), "\(result.output)")
    try waitUntil("its old place is free too") {
      try listStreams(in: world.group).first?.subscribers.isEmpty == true
    }
  }

  @Test func whatAnEvictedOneHeldStaysPinnedAndNothingElse() throws {
    let world = try World()
    var publisher = try world.publisher()
    let peer = try HostilePeer("miser", in: world)
    try waitUntil("it is seated") { publisher.subscriberCount == 1 }
    try growThreeTimes(&publisher)
    // The newest pool has its first frame, in its first slot; the miser holds it.
    try peer.program.waitForOutput("holding 3\n")
    try peer.program.waitForOutput("evicted")
    var offsets: Set<Int> = []
    // Slowly enough for the miser, which behaves like a subscriber.
    let end = Deadline.after(.seconds(2))
    while !end.isPast {
      let loan = try publisher.loan()
      offsets.insert(loan.offsetInPool)
      loan.publish()
      sleep(until: .after(.microseconds(200)))
    }
    // Three slots take turns: only the one that was held before is excluded.
    #expect(offsets.count <= 4, "\(offsets)")
    #expect(!offsets.contains(0))
    _ = peer.program.process.end(with: 9)
    try waitUntil("the slot it held is used again") {
      let loan = try publisher.loan()
      let isBack = loan.offsetInPool == 0
      loan.publish()
      return isBack
    }
  }

  @Test func subscriberWithACutConnectionContinuesAtItsPosition() throws {
    let world = try World()
    var publisher = try world.publisher { $0.ringDepth = 64 }
    let worker = try world.worker(
      "subscribe", "policy=keep:64", "holds=2", "keep=1", "hangUp=3", "frames=20")
    try waitUntil("it is seated") { publisher.subscriberCount == 1 }
    for _ in 1...3 { try publishWhole(&publisher) }
    try worker.waitForOutput("event publisherGone")
    try worker.waitForOutput("event publisherBack")
    for _ in 4...20 { try publishWhole(&publisher) }
    let result = try worker.finish()
    #expect(result.output.contains("done received 20 dropped 0"), "\(result.output)")
    #expect(!result.output.contains("AGAIN"), "\(result.output)")
  }
}

/// Stops a program, and waits until each of its threads stands still: a signal takes a moment.
func stop(_ program: RunningProgram) throws {
  program.process.send(signal: 19)
  let tasks = "/proc/\(program.processID)/task"
  try waitUntil("all threads have stopped") {
    try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
      let status = try String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
      // proc_pid_stat(5): the state follows the name in parentheses.
      return status.split(separator: ")").last?.hasPrefix(" T") == true
    }
  }
}

/// Publishes a frame in each of three pools, each for a larger picture than the one before.
private func growThreeTimes(_ publisher: inout Publisher) throws {
  for width in [2000, 4000, 8000] {
    try publisher.setFormat(try .video(.xrgb8888, width: width, height: 4))
    try publishWhole(&publisher)
  }
}
