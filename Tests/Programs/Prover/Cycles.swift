import FrameBus
import Platform
import TestSupport
import WorkerSupport

/// Repeatedly starts a child that attaches, holds a frame and is killed: afterwards the publisher's
/// resources are as before. The same for publishers that die under one subscriber, and for posters
/// and observers of a notification.
///
/// Settings: `count` (of subscribers; a tenth as many of each other kind die).
struct Cycles {
  private let count: Int

  init(_ settings: Settings) { count = settings.number("count", 500) }

  func run() throws {
    try killSubscribers()
    try killPublishers()
    try killPosters()
    try killObservers()
  }

  private func killSubscribers() throws {
    let world = try ProofWorld()
    let publisher = try world.start("publish", ["role=latest", "intervalUs=2000"])
    try publisher.waitForOutput("publishing")
    try expectNoTrace(of: count, "subscribers", in: world, on: publisher) {
      let child = try RunningProgram("HostileMember", ["seat", world.socketPath])
      try child.waitForOutput("ready")
      _ = try child.end(with: Signal.kill)
    }
    guard try publisher.end(with: Signal.terminate).status.isSuccess else {
      throw ProofError("the publisher: \(publisher.transcript)")
    }
  }

  private func killPublishers() throws {
    let world = try ProofWorld()
    let subscriber = try world.start("subscribe", ["role=keepLatest"])
    try expectNoTrace(of: tenth, "publishers", in: world, on: subscriber) {
      let publisher = try world.start("publish", ["role=keepLatest", "intervalUs=100"])
      try publisher.waitForOutput("publishing")
      try waitUntil("the subscriber has come") {
        try listStreams(in: world.group).first?.subscribers.first?.received ?? 0 > 0
      }
      _ = try publisher.end(with: Signal.kill)
    }
  }

  private func killPosters() throws {
    let world = try ProofWorld()
    let observer = try world.startNotifying("observe", ["until=\(Int.max)"])
    try observer.waitForOutput("ready")
    try expectNoTrace(of: tenth, "posters", in: world, on: observer) {
      let poster = try world.startNotifying("post", ["count=10", "hold=1"])
      try poster.waitForOutput("posted")
      _ = try poster.end(with: Signal.kill)
    }
  }

  private func killObservers() throws {
    let world = try ProofWorld()
    let poster = try world.startNotifying("post", ["count=\(Int.max)", "pauseUs=500"])
    try poster.waitForOutput("ready")
    // With three others, the poster has its wake thread from the start.
    let others = try world.startNotifying("crowd", ["centers=3", "until=\(Int.max)"])
    try others.waitForOutput("ready")
    // One of them lives whenever the poster's descriptors are counted: it keeps the socket of an
    // observer that died awake, for which it need not ring, until the next one takes its place.
    var living = try world.startNotifying("observe", [])
    try living.waitForOutput("delivery")
    try expectNoTrace(of: tenth, "observers", in: world, on: poster) {
      _ = try living.end(with: Signal.kill)
      living = try world.startNotifying("observe", [])
      try living.waitForOutput("delivery")
    }
  }

  private var tenth: Int { max(count / 10, 1) }

  /// Repeats a cycle, and compares what a process and the container have afterwards and before.
  private func expectNoTrace(
    of count: Int, _ what: String, in world: ProofWorld, on witness: RunningProgram,
    _ cycle: () throws -> Void
  ) throws {
    let facts = ProcessFacts(witness.processID)
    // The first cycles create what is created once.
    for _ in 0..<10 { try cycle() }
    let before = try Resources.settled(of: facts)
    let memoryBefore = try MemoryUse(of: facts)
    let entries = try world.entries()
    for _ in 0..<count { try cycle() }
    try expect(before, of: facts, after: "\(count) \(what)")
    let memory = try MemoryUse(of: facts)
    try memory.expectNoMore(than: memoryBefore, after: "\(count) \(what)")
    guard try world.entries() == entries else {
      throw ProofError("the container has \(try world.entries()), before it had \(entries)")
    }
    say("\(count) \(what) killed: \(before); \(memory), before \(memoryBefore)")
  }
}

/// A process's memory: its private memory, and that of the memory files it maps.
struct MemoryUse: CustomStringConvertible {
  let residentBytes: Int
  let memoryFileBytes: Int

  init(of facts: ProcessFacts) throws {
    residentBytes = try facts.residentBytes
    memoryFileBytes = try facts.memoryFileBytes
  }

  /// A settling allocator takes some more pages; a leak of one page per cycle takes megabytes.
  private static let settlingBytes = 1 << 20

  func expectNoMore(than before: MemoryUse, after what: String) throws(ProofError) {
    guard residentBytes <= before.residentBytes + Self.settlingBytes,
      memoryFileBytes <= before.memoryFileBytes + Self.settlingBytes
    else { throw ProofError("after \(what): \(self); before: \(before)") }
  }

  var description: String {
    "\(residentBytes >> 10) KiB resident, \(memoryFileBytes >> 10) KiB of memory files"
  }
}

extension ProofWorld {
  /// Starts an observer or a poster of a notification.
  fileprivate func startNotifying(_ work: String, _ settings: [String]) throws -> RunningProgram {
    try RunningProgram("NotifyWorker", [work, rootPath, Self.groupName, "frame"] + settings)
  }
}
