/// The deliveries of one name as an asynchronous sequence. What is posted between two calls of
/// `next` is coalesced. It ends with ``cancel()``, with the task that iterates, and with the last
/// reference to it. One task at a time may iterate.
public struct Deliveries: AsyncSequence, Sendable {
  public typealias Element = Delivery

  let observation: Observation

  public func makeAsyncIterator() -> Iterator { Iterator(observation: observation) }

  public var name: NotificationName { observation.name }

  public func cancel() { observation.cancel() }

  public struct Iterator: AsyncIteratorProtocol {
    let observation: Observation

    /// - Returns: nil once the observation was cancelled, or the task is.
    public mutating func next() async -> Delivery? { await observation.core.next() }
  }
}
