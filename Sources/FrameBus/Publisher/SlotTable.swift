import CFrameLayout

/// Tracks the free slots of a pool and when published slots become free again. Private to the
/// publisher; nothing here is shared.
///
/// A slot published as frame n leaves the ring's window when the descriptor of n is overwritten,
/// `ringDepth` frames later. From then on no subscriber can newly pin it, and it is free once no
/// hold word contains n. Free slots are used last in, first out, because the most recently used
/// slot is still in the processor's cache.
struct SlotTable: ~Copyable {
  let slotCount: Int
  /// How many slots leave the window before the hold words are scanned, while there are unused
  /// slots: a scan costs a fence and a cache line per subscriber, and a new slot costs its size in
  /// cache.
  private let scanBatch: Int

  struct Retired: BitwiseCopyable {
    let slot: Int
    let sequence: UInt64
  }

  private var free: FixedList<Int>
  /// Slots `fresh..<slotCount` were never used.
  private var fresh = 0
  /// The slots of the frames in the ring, in the order of publishing, ending at `newest`; −1 for a
  /// slot of another pool.
  private var window: FixedList<Int>
  private var newest = 0
  /// Slots outside the window that may still be held; oldest first.
  private var retired: FixedList<Retired>
  /// The content of the hold words at the last scan. Kept to reuse its memory.
  private var held: FixedList<UInt64>

  init(slotCount: Int, slotBytes: Int, ringDepth: Int) {
    self.slotCount = slotCount
    window = FixedList(repeating: -1, count: ringDepth)
    scanBatch = max(1, min(32, 65_536 / slotBytes))
    free = FixedList(capacity: slotCount)
    retired = FixedList(capacity: slotCount)
    held = FixedList(capacity: Int(FB_MAXIMUM_SUBSCRIBERS * FB_MAXIMUM_HOLDS))
  }

  /// A free slot, or nil if all are loaned, in the window or held.
  /// - Parameter addHeld: adds the current content of the hold words; called at most once, after
  ///   the descriptors of all retired slots were overwritten.
  mutating func take(addHeld: (inout FixedList<UInt64>) -> Void) -> Int? {
    if let slot = free.popLast() { return slot }
    if retired.count >= scanBatch || fresh == slotCount {
      held.removeAll()
      addHeld(&held)
      reclaim()
      if let slot = free.popLast() { return slot }
    }
    guard fresh < slotCount else { return nil }
    defer { fresh += 1 }
    return fresh
  }

  /// Returns a slot that was loaned and not published.
  mutating func giveBack(_ slot: Int) { free.append(slot) }

  /// Records a published slot, which overwrote the descriptor of `sequence − ringDepth`.
  mutating func publish(_ slot: Int, as sequence: UInt64) {
    replaceOldest(with: slot, sequence)
  }

  /// Records that a slot of another pool was published with this number.
  mutating func skip(_ sequence: UInt64) { replaceOldest(with: -1, sequence) }

  @inline(__always)
  private mutating func replaceOldest(with slot: Int, _ sequence: UInt64) {
    newest = newest + 1 == window.count ? 0 : newest + 1
    let leaving = window[newest]
    if leaving >= 0 {
      retired.append(Retired(slot: leaving, sequence: sequence - UInt64(window.count)))
    }
    window[newest] = slot
  }

  private mutating func reclaim() {
    var kept = 0
    for index in 0..<retired.count {
      let frame = retired[index]
      if held.contains(where: { $0 == frame.sequence }) {
        retired[kept] = frame
        kept += 1
      } else {
        free.append(frame.slot)
      }
    }
    retired.removeLast(retired.count - kept)
  }
}
