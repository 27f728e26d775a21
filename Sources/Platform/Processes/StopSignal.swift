import CLinuxShims
import Glibc
import Synchronization

/// A request to stop that every wait of one process can notice at once: blocked calls on the bus
/// watch its word, `poll(2)` loops watch its descriptor. Raised at most once, from any thread.
public final class StopSignal: Sendable {
  package let word: PrivateFutexWord
  private let event: Descriptor
  private let observers = Mutex<[UInt64: @Sendable () -> Void]>([:])

  public init() throws(SystemError) {
    word = PrivateFutexWord()
    event = Descriptor(
      owning: try retryingInterrupts("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
  }

  /// Readable, for ever, once the signal is raised.
  package var descriptorNumber: Int32 { event.number }

  public var isRaised: Bool { word.load() != 0 }

  public func raise() {
    word.store(1)
    word.wakeAll()
    var one: UInt64 = 1
    unsafe write(event.number, &one, 8)
    // The lock is held, so that no observer is called after it has been removed.
    observers.withLock { for observer in $0.values { observer() } }
  }

  /// Runs a wait that watches neither word nor descriptor. Meanwhile, when the signal is raised,
  /// the observer is called on the raising thread, or on this one if it is raised already.
  package func observed<Result>(
    by observer: @escaping @Sendable () -> Void, during wait: () -> Result
  ) -> Result {
    let id = observers.withLock { observers in
      let id = (observers.keys.max() ?? 0) + 1
      observers[id] = observer
      return id
    }
    defer { observers.withLock { _ = $0.removeValue(forKey: id) } }
    // Asked after the observer was added: one of both sides sees the other.
    if isRaised { observer() }
    return wait()
  }
}
