import CFrameLayout

/// What a subscriber has pinned: one record for each hold word, and one for copies.
///
/// A lease is a number in this ledger. A record is written by the subscriber while its hold word is
/// free and read through the lease afterwards. Pool and format stay from one frame to the next, so
/// a frame like the one before it touches no reference count.
@safe struct PinLedger: ~Copyable, @unchecked Sendable {  // because leased records are not written
  /// Never copied: the compiler would do so for a call of a method, references and all.
  @safe struct Record: ~Copyable {
    /// As it was when the frame was pinned, in memory of our own.
    var descriptor = fb_descriptor()
    /// Keeps the memory mapped; what is needed of it for each frame stands beside it.
    var pool: PoolView? {
      didSet {
        poolGeneration = pool?.generation ?? 0
        slotCount = UInt32(pool?.slotCount ?? 0)
        slotBytes = pool?.slotBytes ?? 0
        unsafe base = pool.map { unsafe UnsafeRawPointer($0.mapping.base) }
      }
    }
    private(set) var poolGeneration: UInt32 = 0
    private(set) var slotCount: UInt32 = 0
    private(set) var slotBytes = 0
    /// SAFETY: nil, or where `pool` is mapped.
    private var base: UnsafeRawPointer?
    var format: FrameFormat? {
      didSet { payloadRule = format?.payloadRule ?? .none }
    }
    /// The epoch of that format, or 0.
    var formatEpoch: UInt64 = 0
    private(set) var payloadRule = PayloadRule.none
    /// What changed since the frame that was received before; nil: as the descriptor says.
    var damage: DamageRegion?
    var droppedBefore: UInt64 = 0

    /// Where the frame begins.
    /// SAFETY: as long as the record is leased its pool stays, and slot and size were checked
    /// against it when the frame was pinned.
    var payload: UnsafeRawPointer {
      guard let base = unsafe base else { preconditionFailure("a pinned frame has no pool") }
      return unsafe base + Int(descriptor.slot) * slotBytes
    }

    /// Has the beginning of a slot fetched, should it be one of the pool that the record knows.
    @inline(__always)
    func prefetch(slot: UInt32) {
      guard slot < slotCount, let base = unsafe base else { return }
      unsafe fb_prefetch(base + Int(slot) * slotBytes)
    }

    /// Copies the bytes of a frame that nothing keeps from being overwritten meanwhile.
    func copyPayload(into buffer: inout MutableRawSpan) {
      guard let pool else { preconditionFailure("a frame was found without its pool") }
      // SAFETY: slot and size were checked against the pool when the frame was found.
      let bytes = unsafe SharedBytes(
        pool.mapping.base, at: Int(descriptor.slot) * slotBytes,
        byteCount: Int(descriptor.payload_bytes))
      bytes.copy(into: &buffer)
    }
  }

  /// SAFETY: `count` records, initialised in init and freed in deinit.
  private let records: UnsafeMutablePointer<Record>
  /// The record of the frame that is copied without a hold.
  static let copied = Int(FB_MAXIMUM_HOLDS)
  private static let count = copied + 1

  init() {
    unsafe records = .allocate(capacity: Self.count)
    for index in 0..<Self.count { unsafe (records + index).initialize(to: Record()) }
  }

  deinit {
    unsafe records.deinitialize(count: Self.count)
    unsafe records.deallocate()
  }

  subscript(hold: Int) -> Record {
    @inline(__always) unsafeAddress {
      precondition(hold < Self.count, "hold \(hold) out of \(Self.count)")
      return unsafe UnsafePointer(records + hold)
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      precondition(hold < Self.count, "hold \(hold) out of \(Self.count)")
      return unsafe records + hold
    }
  }
}
