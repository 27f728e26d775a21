/// The deliveries of one name as an asynchronous sequence. Posts between two calls of `next` are
/// coalesced. It ends with ``cancel()``, with cancellation of the iterating task, and when its last
/// reference is released. Only one task at a time may iterate.
public struct Deliveries: AsyncSequence, Sendable {
  /// One delivery.
  public typealias Element = Delivery

  let observation: Observation

  /// All iterators share one observation.
  public func makeAsyncIterator() -> Iterator { Iterator(observation: observation) }

  /// The name of the notification.
  public var name: NotificationName { observation.name }

  /// Ends the sequence.
  public func cancel() { observation.cancel() }

  /// Waits for one delivery after another.
  public struct Iterator: AsyncIteratorProtocol {
    let observation: Observation

    /// - Returns: nil once the observation or the task is cancelled.
    public mutating func next() async -> Delivery? { await observation.core.next() }
  }
}
