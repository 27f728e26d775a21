import FrameBus
import Synchronization

/// One picture, or one piece of sound, in the memory where the capture put it: nothing was copied.
///
/// It is valid during the call that it is lent to, which the compiler sees to. Who needs it for
/// longer retains it.
public struct SampleBuffer: ~Copyable {
  /// For what takes leases as they are, within this package.
  package let lease: SharedLease
  private let quota: RetainQuota
  /// Samples of its kind that came to the process, and not to the handler.
  var withheldBefore: UInt64 = 0

  init(_ lease: SharedLease, _ quota: RetainQuota) {
    self.lease = lease
    self.quota = quota
  }

  public var format: FrameFormat { lease.lease.format }
  public var metadata: FrameMetadata { lease.lease.metadata }
  /// When it is to be shown or heard, in nanoseconds; as the capture said, all the way.
  public var ptsNs: Int64 { metadata.ptsNs }
  public var sequence: SequenceNumber { lease.lease.sequence }
  /// How many came since the one before that this extension was too slow for.
  public var droppedBefore: UInt64 { lease.lease.droppedBefore + withheldBefore }
  /// Which life of the capture it comes from.
  public var generation: UInt64 { lease.lease.generation }
  public var byteCount: Int { lease.lease.byteCount }

  /// Lends the bytes.
  public borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lease.lease.lend(to: body)
  }

  /// Keeps the sample beyond the call. The capture leaves its memory alone until then, so there
  /// is a quota.
  /// - Throws: ``RetainError`` where as many are retained as may be.
  public borrowing func retain() throws(RetainError) -> RetainedSampleBuffer {
    try RetainedSampleBuffer(lease, quota)
  }
}

/// A sample that is kept; given back with the last reference, on whatever thread.
public final class RetainedSampleBuffer: Sendable {
  package let lease: SharedLease
  private let quota: RetainQuota

  fileprivate init(_ lease: SharedLease, _ quota: RetainQuota) throws(RetainError) {
    try quota.take()
    self.lease = lease
    self.quota = quota
  }

  public var format: FrameFormat { lease.lease.format }
  public var metadata: FrameMetadata { lease.lease.metadata }
  public var byteCount: Int { lease.lease.byteCount }

  public func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lease.lease.lend(to: body)
  }

  deinit { quota.giveBack() }
}

extension FrameLease {
  /// Borrowed as a whole, so that the bytes cannot outlive it.
  fileprivate borrowing func lend<Result, Failure: Error>(
    to body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(bytes)
  }
}

/// As many samples of one kind are retained as may be.
public struct RetainError: Error, Hashable, Sendable, CustomStringConvertible {
  public let quota: Int

  public var description: String {
    "\(quota) samples are retained, as many as may be: let one go first, or copy what you need of"
      + " this one"
  }
}

/// How many samples of one stream may be retained, and are.
final class RetainQuota: Sendable {
  let limit: Int
  private let count = Mutex(0)

  init(limit: Int) { self.limit = limit }

  fileprivate func take() throws(RetainError) {
    let isTaken = count.withLock { count in
      if count >= limit { return false }
      count += 1
      return true
    }
    if !isTaken { throw RetainError(quota: limit) }
  }

  fileprivate func giveBack() { count.withLock { $0 -= 1 } }
}
