import Platform

/// A free slot, borrowed to be filled and published. Dropping it abandons the slot.
///
/// It belongs to the thread or isolation of its `Publisher`.
public struct FrameLoan: ~Copyable {
  private let core: PublisherCore
  private let pool: Pool
  private let slot: Int
  /// Whether the slot has yet to be given back.
  private var isOut = true

  /// What is filled into the slot. Preset to the publisher's format when the slot was loaned; a
  /// change of that in between does not relabel what is here.
  public var format: FrameFormat
  /// Travels with the frame. Preset to a frame captured and due now.
  public var metadata: FrameMetadata

  init(core: PublisherCore, pool: Pool, slot: Int) {
    self.core = core
    self.pool = pool
    self.slot = slot
    format = core.ring.format
    metadata = .now()
  }

  /// Bytes that fit into the slot.
  public var byteCapacity: Int { pool.slotBytes }

  /// The slot's memory: page-aligned, `byteCapacity` long, with whatever an earlier frame left.
  public var bytes: MutableRawSpan {
    @_lifetime(&self)
    mutating get {
      // SAFETY: the pool stays mapped while this loan holds it, and no subscriber can pin the slot
      // until it is published, which ends the span's lifetime.
      let span = unsafe MutableRawSpan(
        _unsafeStart: pool.mapping.base + offsetInPool, byteCount: pool.slotBytes)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// Which pool the slot is in, for sources whose writer is another process.
  public var poolGeneration: UInt32 { pool.generation }
  /// Where in that pool the slot begins.
  public var offsetInPool: Int { slot * pool.slotBytes }

  /// Makes the frame visible to all subscribers.
  /// - Parameter byteCount: bytes of payload; nil for the format's. Of a picture with planes no
  ///   fewer than that, of everything else no more, and of raw sound whole sample frames.
  /// - Returns: the frame's number.
  /// - Complexity: O(subscribers). Never blocks; at most one system call while somebody sleeps on
  ///   the futex, and one more for each subscriber that waits on a descriptor.
  @discardableResult
  public consuming func publish(byteCount: Int? = nil) -> SequenceNumber {
    let byteCount = byteCount ?? format.byteCount
    precondition(
      format.admits(byteCount: byteCount) && byteCount <= pool.slotBytes,
      "\(byteCount) bytes of a frame of \(format.byteCount) in a slot of \(pool.slotBytes)")
    isOut = false
    return core.publish(slot: slot, of: pool, format, byteCount: byteCount, metadata)
  }

  deinit {
    if isOut { core.abandon(slot: slot, of: pool) }
  }
}
