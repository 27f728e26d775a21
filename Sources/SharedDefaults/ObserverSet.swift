import Platform
import Synchronization

/// The observations of one suite, and what wakes them: the kernel tells of every write to a file of
/// the group's settings and of every change of their names (docs/decisions/0014).
final class ObserverSet: Sendable {
  private struct State {
    var cores: [ObservationCore] = []
    /// While there are observations.
    var watch: DirectoryWatch?
    var timer: EventLoop.Token?
  }

  private let state = Mutex(State())
  /// How long an observer is told nothing, at most, of a change whose writer died before it rang.
  private let recheckInterval: Duration

  init(recheckInterval: Duration) { self.recheckInterval = recheckInterval }

  /// The thread that closures of all suites run on.
  static func loop() throws(SystemError) -> EventLoop {
    try shared.get()
  }

  private static let shared = Result { () throws(SystemError) in
    try EventLoop(named: "framebus-values")
  }

  func add(_ core: ObservationCore, of suite: SharedDefaults) throws(SystemError) {
    let loop = try Self.loop()
    try state.withLock { state throws(SystemError) in
      if state.watch == nil {
        let path = suite.place.directory.reachablePath(of: ".")
        state.watch = try DirectoryWatch(path, [.appearance, .removal, .writing], on: loop) {
          [weak self] in self?.look()
        }
        scheduleRecheck(&state, loop)
      }
      state.cores.append(core)
    }
    // What came before the watch was there.
    loop.enqueue { core.look() }
  }

  func remove(_ core: ObservationCore) {
    // Ended outside the lock: that waits for the handler, which takes the lock.
    let ended: DirectoryWatch? = state.withLock { state in
      state.cores.removeAll { $0 === core }
      guard state.cores.isEmpty else { return nil }
      if let timer = state.timer { try? Self.loop().cancel(timer) }
      defer { state.watch = nil }
      return state.watch
    }
    withExtendedLifetime(ended) {}
  }

  private func look() {
    for core in state.withLock({ $0.cores }) { core.look() }
  }

  private func scheduleRecheck(_ state: inout State, _ loop: EventLoop) {
    state.timer = loop.schedule(at: .after(recheckInterval)) { [weak self] in
      self?.recheck(loop)
    }
  }

  private func recheck(_ loop: EventLoop) {
    look()
    state.withLock { state in
      if state.watch != nil { scheduleRecheck(&state, loop) }
    }
  }
}
