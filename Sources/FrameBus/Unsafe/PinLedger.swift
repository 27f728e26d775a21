import CFrameLayout

/// What a subscriber has pinned: one record for each hold word.
///
/// A lease is a number in this ledger. A record is written by the subscriber while its hold word is
/// free and read through the lease afterwards; pool and format stay from one frame to the next, so a
/// frame like the one before it touches no reference count.
@safe struct PinLedger: ~Copyable, @unchecked Sendable {  // because a free record has one user, and
  // a pinned one is not written
  @safe struct Record {
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
    private(set) var base: UnsafeRawPointer?
    var format: FrameFormat? {
      didSet {
        let planesBytes = format.map { $0.planes.isEmpty ? 0 : UInt64($0.byteCount) }
        leastPayloadBytes = planesBytes ?? 0
      }
    }
    /// The epoch of that format, or 0.
    var formatEpoch: UInt64 = 0
    /// Below it a payload would not hold the format's planes.
    private(set) var leastPayloadBytes: UInt64 = 0
    var droppedBefore: UInt64 = 0
  }

  /// SAFETY: a record for each hold word there can be, initialised in init and freed in deinit.
  private let records: UnsafeMutablePointer<Record>
  private static let count = Int(FB_MAXIMUM_HOLDS)

  init() {
    unsafe records = .allocate(capacity: Self.count)
    unsafe records.initialize(repeating: Record(), count: Self.count)
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
