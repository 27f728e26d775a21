import CFrameLayout

/// A frame that stays as it is for as long as this is kept: the publisher leaves its slot alone.
///
/// Dropping the lease releases the slot; it may be dropped on any thread. It outlives the
/// subscriber, the publisher and the publisher's process.
public struct FrameLease: ~Copyable, Sendable {
  private let attachment: Attachment
  private let pool: PoolView
  private let hold: Int
  private let offset: Int

  public let sequence: SequenceNumber
  public let format: FrameFormat
  public let metadata: FrameMetadata
  /// What changed since the frame that this subscriber received before, whatever was dropped in
  /// between: all of it that it must draw, convert or encode anew. `metadata.damage` tells only of
  /// the frame published before.
  public let damage: DamageRegion
  /// CRC-32C of the bytes, if the publisher gives one (`PublisherOptions.checksums`).
  public let checksum: UInt32?
  /// When the publisher made it visible, `CLOCK_MONOTONIC`.
  public let publishedAtNs: UInt64
  /// Frames between the one received before and this one that this subscriber will never see.
  public let droppedBefore: UInt64
  public let byteCount: Int

  init(
    _ attachment: Attachment, pool: PoolView, hold: Int, _ descriptor: fb_descriptor,
    format: FrameFormat, damage: DamageRegion, droppedBefore: UInt64
  ) {
    self.attachment = attachment
    self.pool = pool
    self.hold = hold
    self.format = format
    self.droppedBefore = droppedBefore
    // The caller has checked both against the pool.
    offset = Int(descriptor.slot) * pool.slotBytes
    byteCount = Int(descriptor.payload_bytes)
    sequence = SequenceNumber(rawValue: descriptor.sequence)
    metadata = FrameMetadata(descriptor, of: format)
    self.damage = damage.clipped(to: format.bounds)
    checksum = descriptor.checksum
    publishedAtNs = descriptor.published_at_ns
  }

  /// Which publisher it came from: changes when the publisher is restarted.
  public var generation: UInt64 { attachment.generation }

  /// The frame's bytes, in the publisher's memory, which this process can only read.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      // SAFETY: the pool stays mapped while this lease holds it, slot and size were checked against
      // it, and the hold keeps the publisher from writing there.
      let span = unsafe RawSpan(_unsafeStart: pool.mapping.base + offset, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The frame's bytes for calls that take a pointer. It must not outlive the lease.
  public borrowing func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // SAFETY: as in `bytes`; the closure must not let the pointer out, as its name says.
    try unsafe body(UnsafeRawBufferPointer(start: pool.mapping.base + offset, count: byteCount))
  }

  deinit { attachment.release(hold) }
}
