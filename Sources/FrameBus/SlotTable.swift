/// Which slots of a pool are free, and when a published one becomes free again. Private to the
/// publisher; nothing here is shared.
///
/// A slot published as frame n leaves the ring's window when the descriptor of n is overwritten,
/// `ringDepth` frames later. From then on no subscriber can newly pin it, and once no hold word
/// names n it is free. Free slots are handed out last in, first out, because the slot used most
/// recently is still in the processor's cache.
struct SlotTable {
  let slotCount: Int
  /// How many slots leave the window before the hold words are looked at, when there are fresh
  /// slots to use instead: looking costs a fence and a cache line a subscriber, and touching
  /// another slot costs its size.
  private let scanBatch: Int

  private struct Retired {
    let slot: Int
    let sequence: UInt64
  }

  private var free: [Int] = []
  /// Slots `fresh..<slotCount` were never used.
  private var fresh = 0
  /// The frame at `sequence % ringDepth`, while its descriptor stands.
  private var window: [Retired?]
  /// Out of the window, perhaps held; oldest first.
  private var retired: [Retired] = []
  /// What the hold words named when they were last looked at. Kept for its memory.
  private var held: [UInt64] = []

  init(slotCount: Int, slotBytes: Int, ringDepth: Int) {
    self.slotCount = slotCount
    window = Array(repeating: nil, count: ringDepth)
    scanBatch = max(1, min(32, 65_536 / slotBytes))
    free.reserveCapacity(slotCount)
    retired.reserveCapacity(slotCount)
    held.reserveCapacity(slotCount)
  }

  /// A slot that nobody else can reach, or nil if all are loaned, in the window or held.
  /// - Parameter addHeld: adds what the hold words name now; called at most once, after the
  ///   descriptors of all retired slots were overwritten.
  mutating func take(addHeld: (inout [UInt64]) -> Void) -> Int? {
    if let slot = free.popLast() { return slot }
    if retired.count >= scanBatch || fresh == slotCount {
      held.removeAll(keepingCapacity: true)
      addHeld(&held)
      reclaim()
      if let slot = free.popLast() { return slot }
    }
    guard fresh < slotCount else { return nil }
    defer { fresh += 1 }
    return fresh
  }

  /// Takes back a slot that was loaned and not published.
  mutating func giveBack(_ slot: Int) { free.append(slot) }

  /// Notes that a slot was published, which overwrote the descriptor of `sequence − ringDepth`.
  mutating func publish(_ slot: Int, as sequence: UInt64) {
    replaceWindow(at: sequence, with: Retired(slot: slot, sequence: sequence))
  }

  /// Notes that another pool's slot was published as this number.
  mutating func skip(_ sequence: UInt64) { replaceWindow(at: sequence, with: nil) }

  private mutating func replaceWindow(at sequence: UInt64, with frame: Retired?) {
    let index = Int(sequence % UInt64(window.count))
    if let leaving = window[index] { retired.append(leaving) }
    window[index] = frame
  }

  private mutating func reclaim() {
    retired.removeAll { frame in
      let isFree = !held.contains(frame.sequence)
      if isFree { free.append(frame.slot) }
      return isFree
    }
  }
}
