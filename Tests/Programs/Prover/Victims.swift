import AppGroup
import FrameBus
import Platform
import TestSupport
import WorkerSupport

// The processes that are killed: a publisher and a subscriber that follow the protocol.

/// Publishes whole frames, in formats that change, until a number is reached or SIGTERM asks it to
/// finish.
///
/// Settings: `role`; `frames` (0: until SIGTERM); `intervalUs`; `stallMs` (limit of lossless
/// subscribers); `changeEvery` (frames of one format; 0: one for ever); `growths` (how often a
/// format may be larger than any before it); `subscribers` (how many to wait for at first).
func publishProof(_ settings: Settings) throws {
  let signals = try SignalWatcher()
  let world = try settings.world()
  let role = try settings.role()
  var options = role.publisherOptions
  options.losslessStallLimit = .milliseconds(settings.number("stallMs", 10_000))
  var publisher = try Publisher(
    world.stream, in: world.group, format: try role.format(step: 0), options: options)
  say("publishing")
  let awaited = settings.number("subscribers", 0)
  try waitUntil("\(awaited) have come") { publisher.subscriberCount >= awaited }
  let frames = UInt64(settings.number("frames", 0))
  let interval = Duration.microseconds(settings.number("intervalUs", 500))
  let changeEvery = UInt64(settings.number("changeEvery", 0))
  let growths = UInt64(settings.number("growths", 1))
  while frames == 0 || publisher.publishedCount < frames, !signals.stop.isRaised {
    let number = publisher.publishedCount + 1
    if changeEvery > 0, number.isMultiple(of: changeEvery) {
      let change = number / changeEvery
      // Up and down: a larger one, then a small one again that fits the slots there are.
      let step = change.isMultiple(of: 2) ? 0 : min(change / 2 + 1, growths)
      try publisher.setFormat(try role.format(step: Int(step)))
    }
    do {
      if number.isMultiple(of: 7) {
        _ = try publisher.loan(waitingUntil: .never, stop: signals.stop)
      }
      var loan = try publisher.loan(waitingUntil: .never, stop: signals.stop)
      ProofFrame.fill(&loan, as: number)
      loan.publish()
    } catch LoanError.stopped { break }
    if interval > .zero { sleep(until: .after(interval)) }
  }
  let published = publisher.publishedCount
  publisher.finish(.ended)
  say("published \(published)")
  sayPasses()
}

/// Receives and checks frames until a number is reached or the stream finishes.
///
/// Settings: `role`; `frames` (0: until it finishes); `holds`; `delayUs` (a frame).
func subscribeProof(_ settings: Settings) throws {
  let world = try settings.world()
  let role = try settings.role()
  let auditor = try Auditor(
    try world.subscriber(
      role, holds: settings.number("holds", 3), until: .after(.seconds(60))), as: role,
    keeping: 2)
  say("attached")
  let wanted = settings.number("frames", 0)
  let delay = Duration.microseconds(settings.number("delayUs", 0))
  var count = 0
  receiving: while wanted == 0 || count < wanted {
    switch try auditor.receive(until: .never) {
    case .frame: count += 1
    case .timedOut: continue
    case .finished: break receiving
    }
    if delay > .zero { sleep(until: .after(delay)) }
  }
  try auditor.checkKept()
  try auditor.checkAccounts()
  say("audited \(auditor.summary)")
  sayPasses()
}

/// How often each crash point was passed, one per line.
private func sayPasses() {
  #if CrashPoints
    for (point, count) in CrashPlan.own.passes { say("pass \(point.rawValue) \(count)") }
  #endif
}
