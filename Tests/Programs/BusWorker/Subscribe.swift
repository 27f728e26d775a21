import AppGroup
import FrameBus
import Platform
import WorkerSupport

/// Receives frames and checks that each is complete.
///
/// Settings: `policy` (latest, keep:N, lossless), `frames` (how many to receive), `holds`, `hold`
/// (1: keep the first frame until killed), `keep` (1: hold the first frame and check it again with
/// each other), `hangUp` (after this number of frames, cut the connection outside the bus),
/// `delayUs` (per frame), `waitMs` (for the publisher), `log` (1: say each frame's PTS, and do not
/// check its words).
func subscribe(_ stream: StreamName, _ group: AppGroup, _ settings: Settings) throws {
  var options = SubscriberOptions()
  options.holds = settings.number("holds", 1)
  let policy = settings.text("policy", "latest")
  if policy == "lossless" {
    options.policy = .lossless(deadline: .seconds(30))
  } else if policy.hasPrefix("keep:") {
    options.policy = .keepLatest(Int(policy.dropFirst(5)) ?? 1)
  }
  options.onEvent = { event in
    if case .annotated(let application) = event {
      say("event annotated \(application?.text ?? "nothing")")
    } else {
      say("event \(event)")
    }
  }
  var subscriber = try Subscriber(
    stream, in: group, options: options,
    waitingForPublisherUntil: .after(.milliseconds(settings.number("waitMs", 10_000))))
  say("attached \(stream)")
  let wanted = settings.number("frames", 0)
  let delay = settings.number("delayUs", 0)
  var kept: FrameLease?
  var newest = (generation: UInt64(0), sequence: UInt64(0))
  var count = 0
  while wanted == 0 || count < wanted {
    switch try subscriber.next() {
    case .frame(let lease):
      if settings.number("log", 0) == 1 {
        say("pts \(lease.metadata.ptsNs)")
      } else {
        check(lease)
      }
      let this = (generation: lease.generation, sequence: lease.sequence.rawValue)
      if this.generation == newest.generation, this.sequence <= newest.sequence {
        say("AGAIN sequence \(lease.sequence)")
      }
      newest = this
      if let first = kept.take() {
        check(first)
        kept = consume first
      }
      if delay > 0 {
        sleep(until: .after(.microseconds(delay)))
        check(lease)
      }
      count += 1
      let size = "\(lease.format.width)x\(lease.format.height)"
      if count == 1 || count.isMultiple(of: 100) || count == wanted {
        say("received \(count) sequence \(lease.sequence) size \(size)")
      }
      if settings.number("hold", 0) == 1 {
        say("holding \(lease.sequence)")
        sleep(until: .never)
      }
      if count == settings.number("hangUp", 0) { try hangUpAllSockets() }
      if count == 1, settings.number("keep", 0) == 1 { kept = consume lease }
    case .finished(let reason):
      say("finished \(reason) received \(count) dropped \(subscriber.droppedCount)")
      return
    default: continue
    }
  }
  say("done received \(count) dropped \(subscriber.droppedCount)")
}

/// Receives from several subscribers of one stream at once, each in a task, on any number of
/// threads.
///
/// Settings: `tasks`, `tick` (1: besides, a task that says so often that it has its turn).
func receiveSuspended(_ stream: StreamName, _ group: AppGroup, _ settings: Settings) throws {
  var options = SubscriberOptions()
  options.policy = .lossless(deadline: .seconds(30))
  var tasks: [Task<UInt64, any Error>] = []
  for _ in 0..<settings.number("tasks", 1) {
    let options = options
    tasks.append(
      Task {
        var subscriber = try Subscriber(
          stream, in: group, options: options, waitingForPublisherUntil: .after(.seconds(60)))
        say("attached \(stream)")
        while let lease = try await subscriber.next() { check(lease) }
        return subscriber.receivedCount
      })
  }
  if settings.number("tick", 0) == 1 {
    Task {
      for turn in 1... {
        try await Task.sleep(for: .milliseconds(20))
        say("tick \(turn)")
      }
    }
  }
  try runTask { [tasks] in
    for task in tasks { say("received \(try await task.value)") }
  }
}

/// Every word of a frame must be the same number, and not 0.
func check(_ lease: borrowing FrameLease) {
  let bytes = lease.bytes
  let first = bytes.unsafeLoad0()
  for offset in stride(from: 0, to: bytes.byteCount & ~7, by: 8) {
    let word = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt64.self)
    if word != first || word == 0 {
      say("TORN sequence \(lease.sequence) offset \(offset): \(word) beside \(first)")
      exitProcess(3)
    }
  }
}

extension RawSpan {
  func unsafeLoad0() -> UInt64 {
    unsafe unsafeLoad(fromByteOffset: 0, as: UInt64.self)
  }
}
