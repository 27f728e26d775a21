import FrameBus
import Platform
import Synchronization

/// Waits for a stream on a thread of its own, while an upload goes on without it.
final class StreamSearch: Sendable {
  enum Outcome: ~Copyable, Sendable {
    case found(UploadRunner.Attachment)
    case failed(SubscriberError)
  }

  private let outcome = Mutex<Outcome?>(nil)
  private let stop: StopSignal

  init(_ subscription: Subscription) throws(SystemError) {
    let stop = try StopSignal()
    self.stop = stop
    try startThread(named: "stream search") { [weak self] in
      var outcome: Outcome? = Self.run(subscription, stop)
      self?.outcome.withLock { $0 = outcome.take() }
    }
  }

  private static func run(_ subscription: Subscription, _ stop: StopSignal) -> Outcome {
    do throws(SubscriberError) {
      return .found(try subscription.subscribe(holds: 1, until: .never, stop: stop))
    } catch {
      return .failed(error)
    }
  }

  /// - Returns: nil while it goes on.
  func take() -> Outcome? { outcome.withLock { $0.take() } }

  /// Ends it, if it still goes on. What it finds from now on is given back.
  func end() { stop.raise() }
}
