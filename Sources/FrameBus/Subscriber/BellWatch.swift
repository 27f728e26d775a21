import Platform
import Synchronization

/// Watches a bell on an event loop, for a task or for a thread that sleeps on a futex.
final class BellWatch: Sendable {
  let loop: EventLoop
  private let bell: BellSocket
  private let token: EventLoop.Token
  private let rung: RungFlag

  /// Set if the bell may have rung since it was last silenced.
  private final class RungFlag: Sendable { let flag = Atomic<Bool>(true) }

  /// - Returns: nil if the loop cannot watch it.
  init?(_ bell: BellSocket, _ loop: EventLoop, _ doorbell: Doorbell) {
    let rung = RungFlag()
    let handler: EventLoop.Handler = { _ in
      rung.flag.store(true, ordering: .sequentiallyConsistent)
      doorbell.relay()
    }
    // Edge-triggered: the waiter silences the bell itself, and stale bells wake nobody.
    guard let token = try? loop.add(bell.number, [.readable, .atArrival], handler) else {
      return nil
    }
    self.loop = loop
    self.bell = bell
    self.token = token
    self.rung = rung
  }

  /// - Returns: false if the publisher's end of the bell is closed.
  func silence() -> Bool {
    guard rung.flag.exchange(false, ordering: .sequentiallyConsistent) else { return true }
    return bell.silence()
  }

  deinit { loop.remove(token, bell.number) }
}
