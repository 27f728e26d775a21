import Platform

/// A loaned slot, to be filled and published. Dropping the loan abandons the slot.
///
/// It belongs to the thread or isolation of its `Publisher`.
public struct FrameLoan: ~Copyable {
  private let core: PublisherCore
  /// The index of the loan in the publisher's ledger.
  private let index: Int
  /// Whether the loan has been neither published nor abandoned.
  private var isOut = true

  init(core: PublisherCore, index: Int) {
    self.core = core
    self.index = index
  }

  /// The format of the frame. Preset to the publisher's format at the time of the loan; later
  /// changes of the publisher's format do not affect it.
  public var format: FrameFormat {
    get { core.ring.loans[index].format }
    set {
      core.ring.loans[index].format = newValue
      core.ring.loans[index].formatVersion = 0
    }
  }

  /// The frame's metadata. Preset to a frame captured and due now: at the first access or, without
  /// one, when the frame is published.
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

  /// The slot's size in bytes.
  public var byteCapacity: Int { core.ring.loans[index].slotBytes }

  /// The slot's memory: page-aligned, `byteCapacity` bytes, with the content of an earlier frame.
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

  /// The generation of the slot's pool, for sources whose writer is another process.
  public var poolGeneration: UInt32 { core.ring.loans[index].pool.generation }
  /// The slot's byte offset in that pool.
  public var offsetInPool: Int { core.ring.loans[index].slot * byteCapacity }

  /// Makes the frame visible to all subscribers.
  /// - Parameter byteCount: bytes of payload; nil for the format's `byteCount`. At least that for a
  ///   picture with planes, at most that for everything else, and whole sample frames for raw
  ///   sound.
  /// - Returns: the frame's sequence number.
  /// - Complexity: O(subscribers). Never blocks; at most one system call for all subscribers that
  ///   sleep on the futex, and one for each subscriber that waits on a descriptor.
  @discardableResult
  public consuming func publish(byteCount: Int? = nil) -> SequenceNumber {
    let byteCount = byteCount ?? core.ring.loans[index].format.byteCount
    precondition(
      admits(byteCount: byteCount),
      "\(byteCount) bytes for a frame of \(format.byteCount) in a slot of \(byteCapacity)")
    isOut = false
    return core.publish(loan: index, byteCount: byteCount)
  }

  /// Whether the frame can be published with that payload.
  package func admits(byteCount: Int) -> Bool {
    (0...byteCapacity).contains(byteCount)
      && core.ring.loans[index].format.payloadRule.admits(UInt64(byteCount))
  }

  deinit {
    if isOut { core.abandon(loan: index) }
  }
}
