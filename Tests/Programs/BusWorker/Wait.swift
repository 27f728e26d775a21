import AppGroup
import FrameBus
import Platform
import WorkerSupport

/// Waits for frames in one way, and reports the results.
///
/// Settings: `wait` (futex, spin, semaphore, eventDescriptor), `by` (`thread`; `poll`: by poll(2)
/// on the event descriptor; `task`; `executor`: a task on an executor of its own; `sequence`: a
/// task over shared leases; `set` and `setTask`: with a subscriber of the stream `quiet` beside),
/// `tell` (1: say each wait and each frame), `deadlineMs` (of each wait). SIGTERM raises its stop
/// signal, or cancels its task.
func waitForFrames(_ stream: StreamName, _ group: AppGroup, _ settings: Settings) throws {
  let stop = try SignalWatcher().stop
  let kind = try waitKind(named: settings.text("wait", "futex"))
  let way = settings.text("by", "thread")
  let witness = Witness(settings)
  @Sendable func subscriber(_ stream: StreamName) throws -> Subscriber {
    var options = SubscriberOptions()
    options.policy = .lossless(deadline: .seconds(60))
    options.onEvent = { say("event \($0)") }
    options.wait = kind
    return try Subscriber(
      stream, in: group, options: options, waitingForPublisherUntil: .after(.seconds(60)))
  }
  @Sendable func set() throws -> SubscriberSet {
    var set = try SubscriberSet()
    _ = try set.add(try subscriber(StreamName("quiet")))
    _ = try set.add(try subscriber(stream))
    return set
  }
  switch way {
  case "thread": try wait(try subscriber(stream), witness, stop)
  case "poll": try waitByPoll(try subscriber(stream), witness, stop)
  case "set": try wait(try set(), witness, stop)
  case "task": try runTask(stop: stop) { try await wait(try subscriber(stream), witness) }
  case "sequence":
    try runTask(stop: stop) {
      _ = witness.begin()
      for try await frame in try subscriber(stream).sharedFrames() { witness.see(frame.lease) }
      say("finished ended")
    }
  case "setTask": try runTask(stop: stop) { try await wait(try set(), witness) }
  case "executor":
    let executor = try FrameExecutor()
    try runTask(on: executor, stop: stop) {
      try await wait(try subscriber(stream), witness)
    }
  default: fatalError("no way \(way)")
  }
  witness.conclude()
}

/// Checks frames: each must be complete, and the next one of its publisher.
final class Witness: @unchecked Sendable {  // because one thread or task at a time uses it
  private let isTelling: Bool
  private let waitMs: Int
  private var generation: UInt64 = 0
  private var last: UInt64 = 0
  private var count = 0
  private var hasAttached = false

  init(_ settings: Settings) {
    isTelling = settings.number("tell", 0) == 1
    waitMs = settings.number("deadlineMs", 0)
  }

  /// Call it before each wait; returns the wait's deadline.
  func begin() -> Deadline {
    if !hasAttached { say("attached") }
    hasAttached = true
    if isTelling { say("waiting") }
    return waitMs > 0 ? .after(.milliseconds(waitMs)) : .never
  }

  func see(_ lease: borrowing FrameLease) {
    check(lease)
    let number = lease.bytes.unsafeLoad0()
    if lease.generation == generation, number != last + 1 {
      say("OUT OF ORDER: \(number) after \(last)")
      exitProcess(3)
    }
    generation = lease.generation
    last = number
    count += 1
    if isTelling { say("frame \(number) size \(lease.format.width)x\(lease.format.height)") }
  }

  func conclude() { say("received \(count) in order") }
}

private func waitKind(named name: String) throws -> WaitKind {
  guard let kind = WaitKind.allCases.first(where: { "\($0)" == name }) else {
    fatalError("no way to wait \(name)")
  }
  return kind
}

private func wait(
  _ subscriber: consuming Subscriber, _ witness: Witness, _ stop: StopSignal
) throws {
  while true {
    switch try subscriber.next(until: witness.begin(), stop: stop) {
    case .frame(let lease): witness.see(lease)
    case .timedOut: say("timed out")
    case .stopped: return say("stopped")
    case .finished(let reason):
      say("finished \(reason)")
      return reportThefts(subscriber.futexCannotBeTrusted)
    }
  }
}

private func waitByPoll(
  _ subscriber: consuming Subscriber, _ witness: Witness, _ stop: StopSignal
) throws {
  guard let descriptor = subscriber.eventDescriptor else { fatalError("no event descriptor") }
  while true {
    let ready = try waitUntilReadable(
      [descriptor, stop.descriptorNumber], until: witness.begin())
    if ready[1] { return say("stopped") }
    if !ready[0] { say("timed out") }
    // One only: the descriptor must stay readable while there are more.
    if let lease = try subscriber.poll() { witness.see(lease) }
    if let reason = subscriber.finishReason { return say("finished \(reason)") }
  }
}

private func wait(
  _ set: consuming SubscriberSet, _ witness: Witness, _ stop: StopSignal
) throws {
  while true {
    switch try set.next(until: witness.begin(), stop: stop) {
    case .frame(_, let lease): witness.see(lease)
    case .timedOut: say("timed out")
    case .stopped: return say("stopped")
    case .finished(let member, let reason):
      say("finished \(reason)")
      return reportThefts(set.remove(member)?.futexCannotBeTrusted == true)
    case .nothingLeft: fatalError("a finished member was not told of")
    }
  }
}

private func wait(_ subscriber: consuming Subscriber, _ witness: Witness) async throws {
  while true {
    switch try await subscriber.next(until: witness.begin()) {
    case .frame(let lease): witness.see(lease)
    case .timedOut: say("timed out")
    case .stopped: return say("stopped")
    case .finished(let reason): return say("finished \(reason)")
    }
  }
}

private func wait(_ set: consuming SubscriberSet, _ witness: Witness) async throws {
  while true {
    switch try await set.next(until: witness.begin()) {
    case .frame(_, let lease): witness.see(lease)
    case .timedOut: say("timed out")
    case .stopped: return say("stopped")
    case .finished(_, let reason): return say("finished \(reason)")
    case .nothingLeft: fatalError("a finished member was not told of")
    }
  }
}

/// A frame that a futex sleeper found without a wake-up counts as a lost wake-up.
private func reportThefts(_ hasLostOne: Bool) {
  if hasLostOne { say("LOST A WAKE-UP") }
}
