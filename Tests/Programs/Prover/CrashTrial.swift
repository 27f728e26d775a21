import FrameBus
import Platform
import Synchronization
import TestSupport

/// Kills at most one process of a stream, and checks all others.
struct CrashTrial: CustomStringConvertible {
  let side: CrashProof.Side
  let role: Role
  let choice: CrashChoice?

  struct Result {
    let wasKilled: Bool
    /// How often a process that was not killed passed each point.
    let passes: [String: Int]
  }

  var description: String { "\(side) \(role) \(choice?.description ?? "alive")" }

  func run() throws -> Result {
    do {
      let watchdog = try Watchdog(description, after: .seconds(180))
      return try withExtendedLifetime(watchdog) {
        try Result(of: try side == .subscriber ? killSubscriber() : killPublisher())
      }
    } catch { throw ProofError("\(self): \(error)") }
  }

  // MARK: A subscriber dies

  private func killSubscriber() throws -> ProgramResult {
    let world = try ProofWorld()
    var publisher = try world.publisher(role)
    let witness = try Auditor(
      try world.subscriber(role.witness, holds: 3), as: role.witness, keeping: 2)
    let quota = try world.subscriber(role, holds: 16).grantedHolds
    try waitUntil("the one who asked for the quota has left") { publisher.subscriberCount == 1 }

    let frames = role == role.witness ? 300 : 100
    let victim = try world.start(
      "subscribe", ["role=\(role)", "frames=\(frames)", "holds=3", "delayUs=100"], dying: choice,
      // Its frame is overwritten meanwhile.
      dawdling: role == .lossless ? nil : .holdTaken)
    try waitUntil("the victim has come or died") {
      publisher.subscriberCount == 2 || victim.process.status != nil
    }
    var count = 0
    while victim.process.status == nil {
      count += 1
      // What happens in its life: pictures grow, shrink, and come from another publisher.
      switch count {
      case 10: try publisher.setFormat(try role.format(step: 1))
      case 20: try publisher.setFormat(try role.format(step: 0))
      case 30: publisher = try succeed(publisher, witness, in: world)
      default: break
      }
      // Slowly, so that it sleeps, and now and then as fast as it goes, so that it is lapped.
      if count % 64 < 32 { sleep(until: .after(.microseconds(300))) }
      let isSeen = role == .lossless || count % 64 < 32
      try publish(&publisher, to: isSeen ? witness : nil)
    }
    try waitUntil("the dead subscriber is forgotten") { publisher.subscriberCount == 1 }
    try checkQuota(quota, &publisher, witness, in: world)
    let published = publisher.publishedCount
    publisher.finish(.ended)
    guard case .finished = try witness.receive(until: .after(.seconds(60))) else {
      throw ProofError("the witness did not see the end")
    }
    try witness.checkAccounts()
    guard witness.accounts.last?.last == published else {
      throw ProofError("\(published) published, but the witness has \(witness.summary)")
    }
    try world.checkRunDirectory()
    return try victim.finish()
  }

  /// Another publisher, replacing one that died.
  private func succeed(
    _ publisher: consuming Publisher, _ witness: Auditor, in world: ProofWorld
  ) throws -> Publisher {
    _ = consume publisher
    let successor = try world.publisher(role, step: 1)
    while successor.subscriberCount == 0 { _ = try witness.receive(until: .now) }
    return successor
  }

  private func publish(_ publisher: inout Publisher, to witness: Auditor?) throws {
    let number = publisher.publishedCount + 1
    var loan = try publisher.loan(waitingUntil: .after(.seconds(60)))
    ProofFrame.fill(&loan, as: number)
    loan.publish()
    guard let witness else { return }
    while true {
      guard case .frame(let received) = try witness.receive(until: .after(.seconds(60))) else {
        throw ProofError("the witness did not receive frame \(number)")
      }
      if received == number { return }
    }
  }

  /// The full quota is there for a successor, and while it holds all it may, every slot goes round.
  private func checkQuota(
    _ quota: Int, _ publisher: inout Publisher, _ witness: Auditor, in world: ProofWorld
  ) throws {
    let successor = try Auditor(
      try world.subscriber(role.witness, holds: 16, start: .next), as: role.witness,
      keeping: quota - 1)
    guard successor.grantedHolds == quota else {
      throw ProofError("\(successor.grantedHolds) holds granted after a death, \(quota) before")
    }
    let slots = role.publisherOptions
    for round in 1...2 * (slots.ringDepth + slots.maxLoans + slots.holdQuota) {
      try publish(&publisher, to: witness)
      if round < quota || role == .lossless {
        _ = try successor.receive(until: .after(.seconds(60)))
      }
    }
    let first = try publisher.loan(waitingUntil: .after(.seconds(60)))
    let second = try publisher.loan(waitingUntil: .after(.seconds(60)))
    _ = consume first
    _ = consume second
    try successor.checkKept()
  }

  // MARK: A publisher dies

  private func killPublisher() throws -> ProgramResult {
    let world = try ProofWorld()
    let audience = try Audience(world, role)
    let settings =
      if side == .evictor {
        ["frames=900", "intervalUs=5000", "growths=3", "subscribers=2"]
      } else if role == role.witness {
        ["frames=60", "intervalUs=500", "stallMs=30"]
      } else {
        // Its subscribers sleep when it dies, in the way that the role tests.
        ["frames=60", "intervalUs=2000", "subscribers=1"]
      }
    let victim = try world.start(
      "publish", ["role=\(role)", "changeEvery=10"] + settings, dying: choice)
    // It maps the memory of its welcome, and none that is sent later.
    var sitter: RunningProgram?
    if side == .evictor {
      try victim.waitForOutput("publishing")
      sitter = try RunningProgram("HostileMember", ["seat", world.socketPath])
      // Before visitors attach, which the victim could mistake for it.
      try sitter?.waitForOutput("ready")
    }
    defer { withExtendedLifetime(sitter) {} }
    while victim.process.status == nil { visit(world) }
    var successor = try world.publisher(role, step: 2)
    try waitUntil("the audience has a frame of the successor, or saw the victim's end") {
      let number = successor.publishedCount + 1
      var loan = try successor.loan(waitingUntil: .after(.seconds(60)))
      ProofFrame.fill(&loan, as: number)
      loan.publish()
      return audience.hasFinished || audience.height == successor.format.height
    }
    successor.finish(.ended)
    try audience.end()
    try world.checkRunDirectory()
    return try victim.finish()
  }

  /// One visitor sends malformed messages; another attaches, perhaps receives a frame, and leaves.
  /// A lossless one is slow and loses lossless delivery.
  private func visit(_ world: ProofWorld) {
    try? MessageSocket.connect(to: world.socketPath).sendMalformed()
    guard let subscriber = try? world.subscriber(role) else {
      return sleep(until: .after(.milliseconds(1)))
    }
    guard let visitor = try? Auditor(subscriber, as: role) else { return }
    if role == .lossless { sleep(until: .after(.milliseconds(50))) }
    _ = try? visitor.receive(until: .after(.milliseconds(20)))
  }
}

extension MessageSocket {
  fileprivate borrowing func sendMalformed() {
    var malformed: UInt64 = 7
    // SAFETY: the span does not outlive the word.
    unsafe withUnsafeBytes(of: &malformed) { _ = send(unsafe RawSpan(_unsafeBytes: $0)) }
  }
}

extension CrashTrial.Result {
  /// - Throws: unless the process was killed, or completed its work.
  init(of result: ProgramResult) throws {
    switch result.status {
    case .killed(signal: Signal.kill): wasKilled = true
    case .exited(0): wasKilled = false
    default: throw ProofError("the victim \(result.status): \(result.output)\(result.errors)")
    }
    var passes: [String: Int] = [:]
    for line in result.output.split(separator: "\n") where line.hasPrefix("pass ") {
      let words = line.split(separator: " ")
      if words.count == 3 { passes[String(words[1])] = Int(words[2]) }
    }
    self.passes = passes
  }
}

/// A subscriber on a thread of its own, from before the publisher comes until the stream finishes.
private final class Audience: Sendable {
  private struct State {
    var height = 0
    var failure: String?
    var hasFinished = false
  }

  private let state = Mutex(State())

  init(_ world: ProofWorld, _ role: Role) throws {
    try startThread(named: "audience") { [self] in
      do { try attend(world, role) } catch { state.withLock { $0.failure = "\(error)" } }
      state.withLock { $0.hasFinished = true }
    }
  }

  private func attend(_ world: ProofWorld, _ role: Role) throws {
    let auditor = try Auditor(
      try world.subscriber(role, holds: 3, until: .never), as: role, keeping: 2)
    while case .frame = try auditor.receive(until: .never) {
      state.withLock { $0.height = auditor.height }
    }
    try auditor.checkAccounts()
  }

  var hasFinished: Bool { state.withLock { $0.hasFinished } }
  /// Of the newest frame: the successor's pictures have one of their own.
  var height: Int { state.withLock { $0.height } }

  /// Waits for the stream's end to be seen.
  func end() throws {
    try waitUntil("the audience saw the end") { hasFinished }
    if let failure = state.withLock({ $0.failure }) { throw ProofError(failure) }
  }
}
