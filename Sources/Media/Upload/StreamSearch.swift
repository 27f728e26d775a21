import FrameBus
import Platform
import Synchronization

/// Waits for a stream on its own thread while an upload runs without it.
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

  /// - Returns: nil while the search is running.
  func take() -> Outcome? { outcome.withLock { $0.take() } }

  /// Ends the search. A stream found from now on is released.
  func end() { stop.raise() }
}
