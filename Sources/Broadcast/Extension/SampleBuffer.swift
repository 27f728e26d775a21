import FrameBus
import Synchronization

/// One picture or chunk of sound, in the memory that the capture wrote. Nothing is copied.
///
/// It is valid during the call that it is lent to; the compiler enforces that. To keep it longer,
/// retain it.
public struct SampleBuffer: ~Copyable {
  /// For code in this package that takes leases.
  package let lease: SharedLease
  private let quota: RetainQuota
  /// Samples of this kind that reached the process but were not delivered to the handler.
  var withheldBefore: UInt64 = 0

  init(_ lease: SharedLease, _ quota: RetainQuota) {
    self.lease = lease
    self.quota = quota
  }

  /// The format of its bytes.
  public var format: FrameFormat { lease.lease.format }
  /// Its times and properties.
  public var metadata: FrameMetadata { lease.lease.metadata }
  /// The presentation time in nanoseconds, unchanged since the capture set it.
  public var ptsNs: Int64 { metadata.ptsNs }
  /// Its number, which counts from 1.
  public var sequence: SequenceNumber { lease.lease.sequence }
  /// The number of samples dropped since the previous one because this extension was too slow.
  public var droppedBefore: UInt64 { lease.lease.droppedBefore + withheldBefore }
  /// The generation of the capture that published it: which of its starts.
  public var generation: UInt64 { lease.lease.generation }
  /// The number of its bytes.
  public var byteCount: Int { lease.lease.byteCount }

  /// Lends the bytes.
  public borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lease.lease.lend(to: body)
  }

  /// Keeps the sample beyond the call. The capture does not reuse its memory until then, so a quota
  /// limits the number of retained samples.
  /// - Throws: ``RetainError`` if the quota is reached.
  public borrowing func retain() throws(RetainError) -> RetainedSampleBuffer {
    try RetainedSampleBuffer(lease, quota)
  }
}

/// A sample kept beyond its call. The last reference releases it, on any thread.
public final class RetainedSampleBuffer: Sendable {
  package let lease: SharedLease
  private let quota: RetainQuota

  fileprivate init(_ lease: SharedLease, _ quota: RetainQuota) throws(RetainError) {
    try quota.take()
    self.lease = lease
    self.quota = quota
  }

  /// The format of its bytes.
  public var format: FrameFormat { lease.lease.format }
  /// Its times and properties.
  public var metadata: FrameMetadata { lease.lease.metadata }
  /// The number of its bytes.
  public var byteCount: Int { lease.lease.byteCount }

  /// Lends the bytes.
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

/// The quota of retained samples of one kind is reached.
public struct RetainError: Error, Hashable, Sendable, CustomStringConvertible {
  /// How many samples of a kind may be retained.
  public let quota: Int

  public var description: String {
    "all \(quota) samples that may be retained are in use; release one first, or copy what you"
      + " need of this sample"
  }
}

/// Counts the retained samples of one stream, up to a limit.
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
