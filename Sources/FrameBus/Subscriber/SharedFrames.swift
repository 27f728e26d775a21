/// A reference-counted lease that can be shared and stored in collections. It is released with its
/// last reference, on any thread.
public final class SharedLease: Sendable {
  /// The frame.
  public let lease: FrameLease

  /// Shares a lease.
  public init(_ lease: consuming FrameLease) { self.lease = lease }
}

/// The frames of a subscriber as an asynchronous sequence: `for try await frame in
/// subscriber.sharedFrames()`. It ends with the stream, or with its task's cancellation.
///
/// Its elements are class instances, one allocation per frame, because a sequence's elements must
/// be copyable. `Subscriber.next()` returns frames without the allocation.
public struct SharedFrames: AsyncSequence, Sendable {
  /// A frame with its lease.
  public typealias Element = SharedLease
  /// What ends the sequence early.
  public typealias Failure = ReceiveError

  /// Holds the subscriber, which one iterator uses.
  fileprivate final class Box: @unchecked Sendable {  // because one iteration at a time uses it
    var subscriber: Subscriber
    init(_ subscriber: consuming Subscriber) { self.subscriber = subscriber }
  }
  private let box: Box

  init(_ subscriber: consuming Subscriber) { box = Box(subscriber) }

  /// Receives one frame after another.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let box: Box

    /// Waits for the next frame; nil when the stream has ended or the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ReceiveError) -> SharedLease? {
      guard let lease = try await box.subscriber.next() else { return nil }
      return SharedLease(lease)
    }
  }

  /// All iterators share one subscriber: use one iterator at a time.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(box: box) }
}

extension Subscriber {
  /// The subscriber's frames as an asynchronous sequence.
  public consuming func sharedFrames() -> SharedFrames { SharedFrames(self) }
}
