import CLinuxShims
import Glibc
import Synchronization

/// A request to stop that every wait of one process can notice at once: blocked calls on the bus
/// watch its word, `poll(2)` loops watch its descriptor. Raised at most once, from any thread.
public final class StopSignal: Sendable {
  package let word: PrivateFutexWord
  private let event: Descriptor

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
  }
}
