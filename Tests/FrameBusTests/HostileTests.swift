import AppGroup
import CFrameLayout
import Foundation
import Platform
import TestSupport
import Testing

@testable import FrameBus

/// Peers that break the protocol on purpose, as processes of their own (`hostile_peer.py`).
@Suite(.serialized) struct HostileTests {
  @Test func malformedMessageEndsItsOwnConnectionOnly() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber()
    let before = try ProcessFacts.own.descriptorCount
    #expect(try HostilePeer("malformed", in: world).program.finish().output.contains("done"))
    #expect(try listStreams(in: world.group).first?.rejected ?? 0 > 50)
    try publishNumbered(&publisher)
    #expect(try receivedNumber(&subscriber) == 1)
    try waitUntil("the connections are gone") {
      try ProcessFacts.own.descriptorCount <= before && publisher.subscriberCount == 1
    }
  }

  @Test func aSubscriberThatNeverAnswersItsWelcomeIsNotCountedAndIsDropped() throws {
    let world = try World()
    let publisher = try world.publisher { $0.seatsPerUser = 64 }
    let peer = try HostilePeer("undecided", in: world)
    try peer.program.waitForOutput("ready")
    let came = publisher.waitForSubscriber(until: .after(.milliseconds(50)))
    #expect(!came)
    #expect(publisher.subscriberCount == 0)
    #expect(publisher.joinCount == 0)
    #expect(try listStreams(in: world.group).first?.subscribers == [])
    try peer.program.waitForOutput("done")
    // The seat is free again.
    let crowd = try (0..<64).map { _ in Shelf(try world.subscriber()) }
    try waitUntil("all are seated") { publisher.subscriberCount == crowd.count }
  }

  @Test func aSilentCrowdIsBoundedAndLetsOthersIn() throws {
    let world = try World()
    var publisher = try world.publisher()
    let before = try ProcessFacts.own.descriptorCount
    let peer = try HostilePeer("strangers", in: world)
    try peer.program.waitForOutput("ready")
    var subscriber = try world.patientSubscriber()
    // Other tests of this process open some for a while.
    try waitUntil("the crowd takes a bounded number of descriptors") {
      try ProcessFacts.own.descriptorCount < before + 64 * 2 + 16
    }
    try publishNumbered(&publisher)
    #expect(try receivedNumber(&subscriber) == 1)
  }

  /// A `sem_t` tells glibc how to call the kernel: what a peer writes there must not end us.
  @Test func subscriberThatCorruptsItsSemaphoreHarmsNoOther() throws {
    let world = try World()
    let publisher = try world.worker("publish", "intervalUs=200")
    try publisher.waitForOutput("publishing")
    var subscriber = try world.subscriber { $0.wait = .semaphore }
    let peer = try HostilePeer("spoiler", in: world)
    try peer.program.waitForOutput("ready")
    for _ in 1...2000 {
      guard case .frame = try subscriber.next(until: .after(.seconds(60))) else {
        Issue.record("no frame\n\(publisher.transcript)")
        return
      }
    }
    #expect(try listStreams(in: world.group).first?.subscribers.count == 2)
  }

  @Test func aCrowdAtTheDoorPushesOutItsOwn() throws {
    let world = try World()
    let publisher = try world.publisher()
    let peer = try HostilePeer("besiegers", in: world)
    try peer.program.waitForOutput("ready")
    try waitUntil("a connection that takes its time has said hello") {
      guard let socket = try? MessageSocket.connect(to: world.socketPath) else { return false }
      // Long enough for more than 64 others.
      sleep(until: .after(.milliseconds(200)))
      _ = socket.send(SubscriberOptions().hello)
      guard socket.waitUntilReadable(until: .after(.seconds(3))) else { return false }
      return (try? Message(from: socket))?.header?.kind == UInt32(FB_MESSAGE_PAGE)
    }
    withExtendedLifetime(publisher.subscriberCount) {}
  }

  @Test func pagesFullOfLiesPinNoMoreThanTheirGrant() throws {
    let world = try World()
    var publisher = try world.publisher { $0.holdQuota = 64 }
    let peer = try HostilePeer("pages", in: world)
    try peer.program.waitForOutput("ready")
    var subscriber = try world.subscriber(.keepLatest(2)) { $0.holds = 2 }
    for expected in 1...20_000 {
      try publishNumbered(&publisher)
      #expect(try receivedNumber(&subscriber) == UInt64(expected))
    }
  }

  @Test func losslessSubscriberThatFakesProgressLosesLosslessDelivery() throws {
    let world = try World()
    var publisher = try world.publisher {
      $0.allowsLossless = true
      $0.losslessStallLimit = .milliseconds(200)
    }
    let peer = try HostilePeer("wavering", in: world)
    try peer.program.waitForOutput("ready")
    for _ in 1...20 {
      let loan = try publisher.loan(waitingUntil: .after(.seconds(20)))
      loan.publish()
    }
    #expect(try listStreams(in: world.group).first?.subscribers.first?.isLossless == false)
  }

  @Test func subscriberThatForksAndExecsTearsNoFrame() throws {
    let world = try World()
    var publisher = try world.publisher { $0.holdQuota = 64 }
    let peer = try HostilePeer("deserter", in: world)
    try waitUntil("it has its place") { publisher.subscriberCount == 1 }
    try publishWhole(&publisher)
    try peer.program.waitForOutput("ready")
    var other = try world.subscriber(.keepLatest(2)) { $0.start = .next }
    for expected in 2...2000 {
      try publishWhole(&publisher)
      #expect(try receivedWhole(&other) == UInt64(expected))
    }
    _ = peer.program.process.end(with: 9)
    // Its child still has the socket, but the seat was the parent's.
    try waitUntil("the place is free") { publisher.subscriberCount == 1 }
  }

  @Test func subscribersThatDetachWhileReadingTearNoFrame() throws {
    let world = try World()
    var publisher = try world.publisher { $0.holdQuota = 64 }
    let peer = try HostilePeer("quitter", in: world)
    try peer.program.waitForOutput("ready")
    var other = try world.subscriber(.keepLatest(2))
    for expected in 1...5000 {
      try publishWhole(&publisher)
      #expect(try receivedWhole(&other) == UInt64(expected))
    }
  }

  @Test func aSleeperWhoseWakeUpsAreStolenStillReceives() throws {
    let world = try World()
    var publisher = try world.publisher()
    let sleeper = Shelf(try world.subscriber(.keepLatest(2)))
    let numbers = Channel<UInt64>()
    try startThread(named: "sleeper") {
      while let number = sleeper.nextNumber() { numbers.send(number) }
      numbers.send(0)
    }
    let peer = try HostilePeer("thief", in: world)
    try peer.program.waitForOutput("ready")
    for expected in 1...10 {
      // Long enough for the sleeper to fall asleep, and to be moved.
      sleep(until: .after(.milliseconds(20)))
      try publishNumbered(&publisher)
      #expect(try numbers.receive(within: .seconds(20)) == UInt64(expected))
    }
    publisher.finish(.ended)
    #expect(try numbers.receive() == 0)
  }

  /// Each hole would make every publish fault, and wait for the process that fills it.
  @Test func aSubscriberMakesNoHolesInWhatThePublisherReads() throws {
    let world = try World()
    var publisher = try world.publisher()
    let peer = try HostilePeer("puncher", in: world)
    var subscriber = try world.subscriber(.keepLatest(2)) { $0.start = .next }
    for expected in 1...200 {
      try publishNumbered(&publisher)
      #expect(try receivedNumber(&subscriber) == UInt64(expected))
    }
    try peer.program.waitForOutput("holes 0\n")
  }

  /// Any process that maps the board can wake its sleepers without a cause, at any rate.
  @Test func aSleeperThatIsWokenForNothingWaitsForItsBell() throws {
    let world = try World()
    var publisher = try world.publisher { $0.allowsLossless = true }
    let worker = try world.worker("wait", "tell=1")
    try waitUntil("it is seated") { publisher.subscriberCount == 1 }
    let facts = ProcessFacts(worker.processID)
    let first = try facts.voluntarySwitches
    let peer = try HostilePeer("alarmist", in: world)
    try peer.program.waitForOutput("ready")
    // It sleeps on the board's futex, on its bell's and on its stop signal's, by futex_waitv(2),
    // whose second argument is their number; after 33 wake-ups, most of which end a sleep, on the
    // latter two alone.
    try waitUntil("it was woken often enough, and sleeps at its bell") {
      let call = facts.shown("syscall").split(separator: " ")
      return try facts.voluntarySwitches - first > 16 && call.count > 2 && call[2] == "0x2"
    }
    let before = try facts.voluntarySwitches
    sleep(until: .after(.milliseconds(100)))
    #expect(try facts.voluntarySwitches - before < 10)
    try publishWhole(&publisher)
    try worker.waitForOutput("frame 1 ")
    publisher.finish(.ended)
    try worker.waitForOutput("LOST A WAKE-UP")
  }

  @Test func aBoardFullOfLiesIsRefusedAndNeverBelieved() throws {
    let world = try World()
    let peer = try HostilePeer("liar", in: world)
    try peer.program.waitForOutput("ready")
    var subscriber = try world.subscriber(.keepLatest(2)) { $0.start = .oldest }
    var outcomes = 0
    let end = Deadline.after(.seconds(3))
    // On a busy machine, the liar's turn may come late.
    let watchdog = Deadline.after(.seconds(120))
    while true {
      if end.isPast, outcomes > 0 { break }
      if watchdog.isPast { break }
      do {
        guard let lease = try subscriber.poll() else { continue }
        outcomes += lease.bytes.byteCount <= 4096 ? 1 : 0
      } catch ReceiveError.untrusted { outcomes += 1 }
    }
    #expect(outcomes > 0)
  }

  @Test func lastMessageOfAPublisherIsReceivedBehindManyBells() throws {
    let world = try World()
    let peer = try HostilePeer("chatterbox", in: world)
    try peer.program.waitForOutput("ready")
    let subscriber = try world.worker("subscribe", "policy=keep:2", "log=1")
    let result = try subscriber.finish()
    #expect(result.output.contains("finished ended received 1"), "\(result.output)")
  }

  @Test func subscriberWaitsForAPublisherThatDoesNotAccept() throws {
    let world = try World()
    let peer = try HostilePeer("deaf", in: world)
    try peer.program.waitForOutput("ready")
    #expect(throws: SubscriberError.noAnswer(world.stream)) { _ = try world.subscriber() }
  }

  @Test func aPublisherWithoutDescriptorsLeftRestsInsteadOfSpinning() throws {
    let world = try World()
    let worker = try RunningProgram(
      "sh",
      [
        "-c", "ulimit -n 24; exec \"$@\"", "sh", try pathOfProgram("BusWorker"), "publish",
        world.root.path, World.groupName, world.stream.text, "intervalUs=1000000",
      ])
    try worker.waitForOutput("publishing")
    let peer = try HostilePeer("strangers", in: world)
    try peer.program.waitForOutput("ready")
    let facts = ProcessFacts(worker.processID)
    let before = try facts.userTicks + facts.systemTicks
    sleep(until: .after(.seconds(2)))
    // A spinning thread takes 200 ticks in two seconds, less what others take from it.
    #expect(try facts.userTicks + facts.systemTicks - before < 20)
  }

  @Test func aSuccessorCanBeginAsSoonAsThePublisherIsGone() throws {
    let world = try World()
    var publisher = try world.publisher()
    let peer = try HostilePeer("inspectors", in: world)
    try peer.program.waitForOutput("ready")
    for _ in 1...200 {
      let loan = try publisher.loan()
      publisher.finish(.ended)
      loan.publish()
      publisher = try world.publisher()
    }
  }
}

/// `hostile_peer.py` in one of its roles, killed when this object is released.
struct HostilePeer {
  let program: RunningProgram

  init(_ role: String, in world: World, _ arguments: [String] = []) throws {
    program = try RunningProgram(
      "/usr/bin/python3", [tool("hostile_peer.py"), role, world.socketPath] + arguments)
  }
}

/// The number that every word of the next frame must be.
func receivedWhole(_ subscriber: inout Subscriber) throws -> UInt64? {
  guard let lease = try subscriber.poll() else { return nil }
  return wholeNumber(in: lease.bytes)
}

func wholeNumber(in bytes: RawSpan) -> UInt64? {
  // SAFETY: inside the bytes, which are words, as the loop says.
  let first = unsafe bytes.unsafeLoad(as: UInt64.self)
  for offset in stride(from: 0, to: bytes.byteCount & ~7, by: 8) {
    let word = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt64.self)
    guard word == first else { return nil }
  }
  return first
}

extension World {
  var socketPath: String { "\(group.streamsPath)/\(stream).sock" }

  /// One that keeps trying for a while.
  func patientSubscriber() throws -> Subscriber {
    try Subscriber(stream, in: group, waitingForPublisherUntil: .after(.seconds(20)))
  }
}
