import CFrameLayout

/// A frame that stays as it is for as long as this is kept: the publisher leaves its slot alone.
///
/// Dropping the lease releases the slot; it may be dropped on any thread. It outlives the
/// subscriber, the publisher and the publisher's process.
public struct FrameLease: ~Copyable, Sendable {
  private let attachment: Attachment
  /// Which of the subscriber's pins it is.
  private let hold: Int

  init(_ attachment: Attachment, hold: Int) {
    self.attachment = attachment
    self.hold = hold
  }

  public var sequence: SequenceNumber {
    SequenceNumber(rawValue: attachment.pins[hold].descriptor.sequence)
  }
  public var format: FrameFormat {
    guard let format = attachment.pins[hold].format else {
      preconditionFailure("a frame is pinned without a format")
    }
    return format
  }
  public var metadata: FrameMetadata {
    FrameMetadata(attachment.pins[hold].descriptor, of: format)
  }
  /// What changed since the frame that this subscriber received before, whatever was dropped in
  /// between: all that must be drawn, converted or encoded anew. `metadata.damage` tells only of
  /// the frame published before.
  public var damage: DamageRegion {
    attachment.pins[hold].changes.clipped(to: format.bounds)
  }
  /// CRC-32C of the bytes, if the publisher gives one (`PublisherOptions.checksums`).
  public var checksum: UInt32? { attachment.pins[hold].descriptor.checksum }
  /// When the publisher made it visible, `CLOCK_MONOTONIC`.
  public var publishedAtNs: UInt64 { attachment.pins[hold].descriptor.published_at_ns }
  /// Frames between the one received before and this one that this subscriber will never see.
  public var droppedBefore: UInt64 { attachment.pins[hold].droppedBefore }
  public var byteCount: Int { Int(attachment.pins[hold].descriptor.payload_bytes) }

  /// Which publisher it came from: changes when the publisher is restarted.
  public var generation: UInt64 { attachment.generation }

  /// The frame's bytes, in the publisher's memory, which this process can only read.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      // SAFETY: the pool stays mapped while the pin names it, and the hold keeps the publisher from
      // writing there.
      let span = unsafe RawSpan(_unsafeStart: attachment.pins[hold].payload, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The frame's bytes for calls that take a pointer. It must not outlive the lease.
  public borrowing func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // SAFETY: as in `bytes`; the closure must not let the pointer out, as its name says.
    try unsafe body(UnsafeRawBufferPointer(start: attachment.pins[hold].payload, count: byteCount))
  }

  deinit { attachment.release(hold) }
}
