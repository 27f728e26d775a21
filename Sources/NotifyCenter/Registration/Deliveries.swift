/// The deliveries of one name as an asynchronous sequence. Posts between two calls of `next` are
/// coalesced. It ends with ``cancel()``, with cancellation of the iterating task, and when its last
/// reference is released. Only one task at a time may iterate.
public struct Deliveries: AsyncSequence, Sendable {
  public typealias Element = Delivery

  let observation: Observation

  public func makeAsyncIterator() -> Iterator { Iterator(observation: observation) }

  public var name: NotificationName { observation.name }

  public func cancel() { observation.cancel() }

  public struct Iterator: AsyncIteratorProtocol {
    let observation: Observation

    /// - Returns: nil once the observation or the task is cancelled.
    public mutating func next() async -> Delivery? { await observation.core.next() }
  }
}
