import Platform

/// A free slot, borrowed to be filled and published. Dropping it abandons the slot.
///
/// It belongs to the thread or isolation of its `Publisher`.
public struct FrameLoan: ~Copyable {
  private let core: PublisherCore
  /// Which of the publisher's loans it is.
  private let index: Int
  /// Whether the slot has yet to be given back.
  private var isOut = true

  init(core: PublisherCore, index: Int) {
    self.core = core
    self.index = index
  }

  /// What is filled into the slot. Preset to the publisher's format when the slot was loaned; a
  /// change of that in between does not relabel what is here.
  public var format: FrameFormat {
    get { core.ring.loans[index].format }
    set {
      core.ring.loans[index].format = newValue
      core.ring.loans[index].formatVersion = 0
    }
  }

  /// Travels with the frame. Preset to a frame captured and due now: when this is first looked at
  /// or, if it never is, when the frame is published.
  public var metadata: FrameMetadata {
    get {
      if !core.ring.loans[index].hasMetadata { set(.now()) }
      return core.ring.loans[index].metadata
    }
    set { set(newValue) }
  }

  private func set(_ metadata: FrameMetadata) {
    core.ring.loans[index].metadata = metadata
    core.ring.loans[index].hasMetadata = true
  }

  /// Bytes that fit into the slot.
  public var byteCapacity: Int { core.ring.loans[index].slotBytes }

  /// The slot's memory: page-aligned, `byteCapacity` long, with whatever an earlier frame left.
  public var bytes: MutableRawSpan {
    @_lifetime(&self)
    mutating get {
      let base = unsafe core.ring.loans[index].pool.mapping.base
      // SAFETY: the pool stays mapped while this loan is in the ledger, and no subscriber can pin
      // the slot until it is published, which ends the span's lifetime.
      let span = unsafe MutableRawSpan(
        _unsafeStart: base + offsetInPool, byteCount: byteCapacity)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// Which pool the slot is in, for sources whose writer is another process.
  public var poolGeneration: UInt32 { core.ring.loans[index].pool.generation }
  /// Where in that pool the slot begins.
  public var offsetInPool: Int { core.ring.loans[index].slot * byteCapacity }

  /// Makes the frame visible to all subscribers.
  /// - Parameter byteCount: bytes of payload; nil for the format's. Of a picture with planes no
  ///   fewer than that, of everything else no more, and of raw sound whole sample frames.
  /// - Returns: the frame's number.
  /// - Complexity: O(subscribers). Never blocks; at most one system call while somebody sleeps on
  ///   the futex, and one more for each subscriber that waits on a descriptor.
  @discardableResult
  public consuming func publish(byteCount: Int? = nil) -> SequenceNumber {
    let byteCount = byteCount ?? core.ring.loans[index].format.byteCount
    precondition(
      core.ring.loans[index].format.payloadRule.admits(UInt64(byteCount))
        && byteCount <= byteCapacity,
      "\(byteCount) bytes of a frame of \(format.byteCount) in a slot of \(byteCapacity)")
    isOut = false
    return core.publish(loan: index, byteCount: byteCount)
  }

  deinit {
    if isOut { core.abandon(loan: index) }
  }
}
