import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// The cost of waking for the publisher, and how sleeping subscribers could raise it.
@Suite(.serialized) struct WakingTests {
  @Test(.enabled(if: SystemCalls.canBeTraced, "strace is missing: apt install strace"))
  func sleepersOnTheFutexCostThePublisherOneSystemCallAFrameHoweverMany() throws {
    for count in [1, 4, 12] {
      let world = try World()
      let publisher = try world.worker("publish", "lossless=1", "intervalUs=20000")
      try publisher.waitForOutput("publishing")
      let subscribers = try (0..<count).map { _ in try world.worker("wait", "tell=1") }
      for subscriber in subscribers { try subscriber.waitForOutput("frame ") }
      let start = try cursor(of: world)
      let calls = try SystemCalls(of: publisher, during: { try frames(50, of: world) })
      // A busy machine needs fewer wake-ups and sleeps, because the next frame arrives before all
      // sleep, or before this one ever does; the test is that there are not many more.
      let woken = try 1...Int(cursor(of: world) - start) + 10
      #expect(woken.contains(calls.count("futex", thread: publisher.processID)), "\(calls)")
      #expect(calls.count("sendto", thread: publisher.processID) == 0)
      let middle = try cursor(of: world)
      let own = try SystemCalls(of: subscribers[0], during: { try frames(50, of: world) })
      let slept = try 0...Int(cursor(of: world) - middle) + 20
      #expect(slept.contains(own.count("futex_waitv", thread: subscribers[0].processID)))
      // A publisher that had to wait for it is woken by it.
      #expect(own.waits("futex", thread: subscribers[0].processID) == 0, "\(own)")
    }
  }

  @Test(.enabled(if: SystemCalls.canBeTraced, "strace is missing: apt install strace"))
  func withoutSleepersThereAreNoSystemCallsToWakeOrWait() throws {
    let world = try World()
    let publisher = try world.worker("publish", "lossless=1", "intervalUs=2000")
    try publisher.waitForOutput("publishing")
    let subscriber = try world.worker("wait", "wait=spin", "tell=1")
    try subscriber.waitForOutput("frame ")
    let calls = try SystemCalls(of: publisher, during: { try frames(200, of: world) })
    #expect(calls.sharedCount("futex", thread: publisher.processID) == 0, "\(calls)")
    #expect(calls.count("sendto", thread: publisher.processID) == 0)
  }

  /// Five hundred threads of a member sleep on the publisher's word. Waking them takes long, so
  /// another thread must do it.
  @Test(
    .enabled(if: SystemCalls.canBeTraced, "strace is missing: apt install strace"),
    arguments: ["futex", "poll"])
  func aCrowdOfSleepersIsLeftToTheWakeThread(_ wait: String) throws {
    let world = try World()
    let publisher = try world.worker("publish", "lossless=1", "intervalUs=200000")
    try publisher.waitForOutput("publishing")
    let folder = try TemporaryRoot()
    try output(
      of: "cc",
      ["-O1", "-pthread", "-o", folder.file("crowd"), tool("crowd.c")])
    let crowd = try HostilePeer("crowd", in: world, [folder.file("crowd"), wait, "500"])
    try crowd.program.waitForOutput("ready")
    let waking = wait == "futex" ? "futex" : "sendto"
    // The first wake-up of a crowd shows that it is slow. On a busy machine, the crowd is awake for
    // long before it sleeps again, and is quick to wake meanwhile.
    try waitUntil("the crowd sleeps, and the wake thread alone wakes it") {
      // A new one each time: one that found frames before it was woken now sleeps at its bell.
      let subscriber = try world.worker("wait", "tell=1")
      try subscriber.waitForOutput("frame ")
      try frames(3, of: world)
      let calls = try SystemCalls(
        of: publisher,
        during: {
          let before = subscriber.output.text.count
          try frames(5, of: world)
          try waitUntil("the wake thread gets a turn among five hundred") {
            subscriber.output.text.count > before
          }
        })
      // One call wakes for several frames if waking the crowd takes longer than their interval. The
      // wake thread itself is woken by a futex too, but by one of its own process.
      return calls.sharedCount(waking) > 0
        && calls.sharedCount(waking, thread: publisher.processID) == 0
    }
  }

  @Test func sleeperReceivesBesideOneThatMakesWakingFail() throws {
    let world = try World()
    var publisher = try world.publisher()
    let peer = try HostilePeer("poisoner", in: world)
    try peer.program.waitForOutput("ready")
    let sleeper = Shelf(try world.subscriber(.keepLatest(2)))
    let numbers = Channel<UInt64>()
    try startThread(named: "sleeper") {
      while let number = sleeper.nextNumber() { numbers.send(number) }
      numbers.send(0)
    }
    for expected in 1...5 {
      try publishNumbered(&publisher)
      #expect(try numbers.receive(within: .seconds(20)) == UInt64(expected))
    }
    publisher.finish(.ended)
    #expect(try numbers.receive() == 0)
  }

  @Test func unreadBellsStallNoPoster() throws {
    let world = try World()
    var publisher = try world.publisher()
    let peer = try HostilePeer("bellringers", in: world)
    try peer.program.waitForOutput("ready")
    var subscriber = try world.subscriber(.keepLatest(2)) { $0.wait = .eventDescriptor }
    for expected in 1...5_000 {
      try publishNumbered(&publisher)
      #expect(try receivedNumber(&subscriber) == UInt64(expected))
      #expect(try receivedNumber(&subscriber) == nil)
    }
    #expect(!peer.program.output.text.contains("could ring back"))
  }

  @Test func eventDescriptorIsCorrectAsleepAndAwake() throws {
    let world = try World()
    var publisher = try world.publisher { $0.ringDepth = 8 }
    var subscriber = try world.subscriber(.keepLatest(8)) { $0.wait = .eventDescriptor }
    let number = subscriber.eventDescriptor
    let descriptor = try #require(number)
    func isReadable() throws -> Bool {
      try waitUntilReadable([descriptor], until: .now) == [true]
    }
    #expect(try isReadable(), "there may be frames already")
    for expected in 1...3 { #expect(try receivedNumber(&subscriber) == nil, "\(expected)") }
    #expect(try !isReadable())
    for _ in 1...4 { try publishNumbered(&publisher) }
    for expected in 1...4 {
      #expect(try isReadable())
      #expect(try receivedNumber(&subscriber) == UInt64(expected))
    }
    #expect(try receivedNumber(&subscriber) == nil)
    #expect(try !isReadable())
    publisher.finish(.ended)
    #expect(try isReadable())
    #expect(try receivedNumber(&subscriber) == nil)
    #expect(subscriber.finishReason == .ended)
    #expect(try isReadable(), "an end stays an end")
  }

  /// Waits until the publisher has published `count` more frames.
  private func frames(_ count: UInt64, of world: World) throws {
    let start = try cursor(of: world)
    try waitUntil("\(count) frames are published") { try cursor(of: world) >= start + count }
  }

  private func cursor(of world: World) throws -> UInt64 {
    try listStreams(in: world.group).first?.cursor ?? 0
  }
}

/// The system calls that a process makes, counted from outside by strace.
struct SystemCalls: CustomStringConvertible {
  private let lines: [Substring]

  static var canBeTraced: Bool { programInPath(named: "strace") != nil }

  init(of program: RunningProgram, during body: () throws -> Void) throws {
    let folder = try TemporaryRoot()
    let strace = try RunningProgram(
      "strace",
      ["-f", "-e", "trace=futex,futex_waitv,sendto", "-o", folder.file("calls"), "-p"]
        + ["\(program.processID)"])
    try strace.waitForErrors("attached")
    try body()
    // strace detaches from the process with a delay.
    _ = try strace.end(with: SIGINT)
    let text = try String(contentsOfFile: folder.file("calls"), encoding: .utf8)
    lines = text.split(separator: "\n")
  }

  /// Calls of one thread, or of all.
  func count(_ call: String, thread: Int32? = nil) -> Int { calls(call, thread).count }

  /// Without the calls that only this process can notice.
  func sharedCount(_ call: String, thread: Int32? = nil) -> Int {
    calls(call, thread).count { !$0.contains("_PRIVATE") }
  }

  /// The calls that sleep where another process can wake them.
  func waits(_ call: String, thread: Int32? = nil) -> Int {
    calls(call, thread).count { $0.contains("_WAIT") && !$0.contains("_PRIVATE") }
  }

  private func calls(_ call: String, _ thread: Int32?) -> [Substring] {
    lines.filter { line in
      let words = line.split(separator: " ", maxSplits: 1)
      guard words.count == 2, words[1].drop(while: { $0 == " " }).hasPrefix("\(call)(") else {
        return false
      }
      return thread == nil || Int32(words[0]) == thread
    }
  }

  var description: String { lines.prefix(100).joined(separator: "\n") }
}
