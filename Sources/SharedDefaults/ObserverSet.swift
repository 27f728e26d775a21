import Platform
import Synchronization

/// The observations of one suite and their source of events. The kernel reports every write to a
/// file of the group's settings and every change of their names (docs/decisions/0014).
final class ObserverSet: Sendable {
  private struct State {
    var cores: [ObservationCore] = []
    /// Non-nil while there are observations.
    var watch: DirectoryWatch?
    var timer: EventLoop.Token?
  }

  private let state = Mutex(State())
  /// The longest delay of a notification if the writer died before it woke the observers.
  private let recheckInterval: Duration

  init(recheckInterval: Duration) { self.recheckInterval = recheckInterval }

  /// The event loop whose thread runs the closures of all suites.
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
        let path = suite.location.directory.reachablePath(of: ".")
        state.watch = try DirectoryWatch(path, [.appearance, .removal, .writing], on: loop) {
          [weak self] in self?.pollAfterWriting()
        }
        scheduleRecheck(&state, loop)
      }
      state.cores.append(core)
    }
    // Reports changes from before the watch existed.
    loop.enqueue { core.poll() }
  }

  func remove(_ core: ObservationCore) {
    // Released outside the lock, because ending the watch waits for its handler, which takes the
    // lock.
    let ended: DirectoryWatch? = state.withLock { state in
      state.cores.removeAll { $0 === core }
      guard state.cores.isEmpty else { return nil }
      if let timer = state.timer { try? Self.loop().cancel(timer) }
      defer { state.watch = nil }
      return state.watch
    }
    withExtendedLifetime(ended) {}
  }

  /// The kernel reports that a record is written, which is moments before its writer publishes it:
  /// the observer's thread may even have taken the writer's processor.
  private func pollAfterWriting() {
    let cores = state.withLock { $0.cores }
    guard let suite = cores.first?.suite else { return }
    for _ in 0..<Self.maximumYields where suite.isAboutToChange { yieldProcessor() }
    for core in cores { core.poll() }
  }

  /// A writer that died, or is hostile, may never publish: the next event or recheck follows.
  private static let maximumYields = 32

  private func poll() {
    for core in state.withLock({ $0.cores }) { core.poll() }
  }

  private func scheduleRecheck(_ state: inout State, _ loop: EventLoop) {
    state.timer = loop.schedule(at: .after(recheckInterval)) { [weak self] in
      self?.recheck(loop)
    }
  }

  private func recheck(_ loop: EventLoop) {
    poll()
    state.withLock { state in
      if state.watch != nil { scheduleRecheck(&state, loop) }
    }
  }
}
