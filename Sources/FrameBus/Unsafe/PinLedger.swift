import CFrameLayout

/// A subscriber's pinned frames: one record for each hold word, and one for copies.
///
/// A lease is an index into this ledger. The subscriber writes a record while its hold word is
/// free; the lease reads it afterwards. Pool and format stay from one frame to the next, so a frame
/// with the same ones as the previous frame touches no reference count.
@safe struct PinLedger: ~Copyable, @unchecked Sendable {  // because leased records are not written
  /// Noncopyable, because the compiler would copy it, references included, for a method call.
  @safe struct Record: ~Copyable {
    /// A private copy, made when the frame was pinned.
    var descriptor = fb_descriptor()
    /// Keeps the memory mapped. Its fields used for each frame are cached beside it.
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
    /// SAFETY: nil, or the base of the mapping that `pool` keeps.
    private var base: UnsafeRawPointer?
    var format: FrameFormat? {
      didSet { payloadRule = format?.payloadRule ?? .none }
    }
    /// The epoch of that format, or 0.
    var formatEpoch: UInt64 = 0
    private(set) var payloadRule = PayloadRule.none
    /// The damage since the last received frame; nil for the descriptor's own.
    var damage: DamageRegion?
    var droppedBefore: UInt64 = 0

    /// The frame's first byte.
    /// SAFETY: as long as the record is leased its pool stays, and slot and size were checked
    /// against it when the frame was pinned.
    var payload: UnsafeRawPointer {
      guard let base = unsafe base else { preconditionFailure("a pinned frame has no pool") }
      return unsafe base + Int(descriptor.slot) * slotBytes
    }

    /// Prefetches the beginning of a slot, if it is in the record's pool.
    @inline(__always)
    func prefetch(slot: UInt32) {
      guard slot < slotCount, let base = unsafe base else { return }
      unsafe fb_prefetch(base + Int(slot) * slotBytes)
    }

    /// Copies the bytes of a frame that is not pinned and may be overwritten meanwhile.
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
  /// The index of the record for frames that are copied without a hold.
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
