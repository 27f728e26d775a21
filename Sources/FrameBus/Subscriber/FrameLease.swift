import CFrameLayout

/// A pinned frame: the publisher does not reuse its slot while the lease exists.
///
/// Dropping the lease releases the slot; it may be dropped on any thread. It can outlive the
/// subscriber, the publisher and the publisher's process.
public struct FrameLease: ~Copyable, Sendable {
  private let attachment: Attachment
  /// The index of the pin in the subscriber's ledger.
  private let hold: Int

  init(_ attachment: Attachment, hold: Int) {
    self.attachment = attachment
    self.hold = hold
  }

  /// Its number, which counts from 1.
  public var sequence: SequenceNumber {
    SequenceNumber(rawValue: attachment.pins[hold].descriptor.sequence)
  }
  /// The format of its bytes.
  public var format: FrameFormat {
    guard let format = attachment.pins[hold].format else {
      preconditionFailure("a frame is pinned without a format")
    }
    return format
  }
  /// Its times and properties.
  public var metadata: FrameMetadata {
    FrameMetadata(attachment.pins[hold].descriptor, of: format)
  }
  /// The area that changed since this subscriber's previous frame, including dropped frames: the
  /// area to redraw, convert or encode. `metadata.damage` is relative to the frame published
  /// before.
  public var damage: DamageRegion {
    attachment.pins[hold].changes.clipped(to: format.bounds)
  }
  /// CRC-32C of the bytes, if the publisher computes one (`PublisherOptions.checksums`).
  public var checksum: UInt32? { attachment.pins[hold].descriptor.checksum }
  /// When the publisher published it, `CLOCK_MONOTONIC`.
  public var publishedAtNs: UInt64 { attachment.pins[hold].descriptor.published_at_ns }
  /// Number of frames dropped between the previous received frame and this one.
  public var droppedBefore: UInt64 { attachment.pins[hold].droppedBefore }
  /// The number of its bytes.
  public var byteCount: Int { Int(attachment.pins[hold].descriptor.payload_bytes) }

  /// The publisher's generation, which changes when the publisher restarts.
  public var generation: UInt64 { attachment.generation }

  // Fields of `metadata` that need no format.
  package var ptsNs: Int64 { attachment.pins[hold].descriptor.pts_ns }
  package var capturedAtNs: UInt64 { attachment.pins[hold].descriptor.captured_at_ns }
  package var flags: FrameFlags {
    FrameFlags(rawValue: attachment.pins[hold].descriptor.flags).subtracting(.checksummed)
  }
  /// Changes with the format, within a generation.
  package var formatEpoch: UInt64 { attachment.pins[hold].descriptor.format_epoch }

  /// The frame's bytes, in the publisher's memory, mapped read-only.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      // SAFETY: the pool stays mapped while the pin names it, and the hold keeps the publisher from
      // writing there.
      let span = unsafe RawSpan(_unsafeStart: attachment.pins[hold].payload, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The frame's bytes for calls that take a pointer, which must not outlive the lease.
  public borrowing func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // SAFETY: as in `bytes`; the closure must not let the pointer escape, as the name warns.
    try unsafe body(UnsafeRawBufferPointer(start: attachment.pins[hold].payload, count: byteCount))
  }

  deinit { attachment.release(hold) }
}
