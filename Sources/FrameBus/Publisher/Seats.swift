import CFrameLayout
import Platform
import Synchronization

/// The stream's seats, shared by the publishing thread and the control plane: which are taken, how
/// many hold words each was granted, and their pages. In code a seat is its index.
///
/// The control plane fills and empties seats; the publishing thread only reads, without a lock.
final class Seats: Sendable {
  static let count = Int(FB_MAXIMUM_SUBSCRIBERS)

  private let pages: PageRow
  private let taken = Atomic<UInt64>(0)
  /// The taken seats whose subscriber has confirmed its arrival.
  private let seated = Atomic<UInt64>(0)
  private let lossless = Atomic<UInt64>(0)
  /// Granted hold words, one byte per seat.
  private let granted: [Atomic8]
  private let stallLimits: [Atomic64]
  /// The hold words of evicted seats at the time of eviction, seat by seat.
  private let frozen: [Atomic64]
  private let evicted = Atomic<UInt64>(0)
  /// How many subscribers each seat has had.
  private let tenancies: [Atomic64]

  /// Classes, because arrays cannot contain atomics, which are not copyable.
  private final class Atomic8: Sendable { let value = Atomic<UInt8>(0) }
  private final class Atomic64: Sendable { let value = Atomic<UInt64>(0) }

  init() throws(SystemError) {
    pages = try PageRow(count: Self.count)
    granted = (0..<Self.count).map { _ in Atomic8() }
    stallLimits = (0..<Self.count).map { _ in Atomic64() }
    frozen = (0..<Self.count * Int(FB_MAXIMUM_HOLDS)).map { _ in Atomic64() }
    tenancies = (0..<Self.count).map { _ in Atomic64() }
  }

  /// Control plane: lists a subscriber. Map its page before this call and send its descriptors
  /// after it; otherwise it could pin a frame unseen.
  func take(
    _ seat: Int, page: borrowing MemoryFile, holds: Int, losslessStallLimitNs: UInt64?
  ) throws(SystemError) {
    try pages.fill(seat, with: page)
    // Relaxed: published by the store to `taken` below.
    granted[seat].value.store(UInt8(holds), ordering: .relaxed)
    tenancies[seat].value.wrappingAdd(1, ordering: .relaxed)
    if let losslessStallLimitNs {
      stallLimits[seat].value.store(losslessStallLimitNs, ordering: .relaxed)
      lossless.bitwiseOr(1 << UInt64(seat), ordering: .sequentiallyConsistent)
    }
    // SYNC seats/list: pairs with the load in `takenMask`.
    taken.bitwiseOr(1 << UInt64(seat), ordering: .sequentiallyConsistent)
  }

  /// Control plane: counts a subscriber that has taken its seat.
  func confirm(_ seat: Int) {
    seated.bitwiseOr(1 << UInt64(seat), ordering: .releasing)
  }

  /// Control plane: freezes a subscriber's holds; later ones are ignored. Call it after the store
  /// that shows the eviction to the subscriber and a full fence.
  func evict(_ seat: Int) {
    let bit = UInt64(1) << UInt64(seat)
    lossless.bitwiseAnd(~bit, ordering: .sequentiallyConsistent)
    seated.bitwiseAnd(~bit, ordering: .releasing)
    for index in 0..<grantedHolds(seat) {
      // SYNC hold/evict: acquire; after the caller's full fence.
      // Relaxed: published by the store to `evicted` below.
      let sequence = page(seat).hold(index).loadAcquiring()
      frozenHold(seat, index).value.store(sequence, ordering: .relaxed)
    }
    evicted.bitwiseOr(bit, ordering: .sequentiallyConsistent)
  }

  private func frozenHold(_ seat: Int, _ index: Int) -> Atomic64 {
    frozen[seat * Int(FB_MAXIMUM_HOLDS) + index]
  }

  /// Control plane: removes a subscriber and all its holds.
  func leave(_ seat: Int) {
    let others = ~(UInt64(1) << UInt64(seat))
    lossless.bitwiseAnd(others, ordering: .sequentiallyConsistent)
    seated.bitwiseAnd(others, ordering: .releasing)
    taken.bitwiseAnd(others, ordering: .sequentiallyConsistent)
    evicted.bitwiseAnd(others, ordering: .sequentiallyConsistent)
    // A page that cannot be unmapped stays readable, and is no longer read.
    try? pages.empty(seat)
  }

  /// Control plane: ends lossless delivery to one subscriber, if it still has the seat, which may
  /// have a new subscriber by now. Returns true if the subscriber was lossless.
  func endLossless(_ seat: Int, of tenancy: UInt64) -> Bool {
    guard self.tenancy(seat) == tenancy else { return false }
    let bit = UInt64(1) << UInt64(seat)
    return lossless.bitwiseAnd(~bit, ordering: .sequentiallyConsistent).oldValue & bit != 0
  }

  // SYNC seats/list: pairs with the stores in `take` and `leave`.
  @inline(__always)
  var takenMask: UInt64 { taken.load(ordering: .sequentiallyConsistent) }
  @inline(__always)
  var losslessMask: UInt64 { lossless.load(ordering: .sequentiallyConsistent) }

  var takenCount: Int { takenMask.nonzeroBitCount }
  var seatedMask: UInt64 { seated.load(ordering: .acquiring) }

  @inline(__always)
  func page(_ seat: Int) -> SubscriberPage {
    // SAFETY: the row lives as long as self, and every page of it is always readable.
    unsafe SubscriberPage(pages, seat: seat)
  }

  // Relaxed: ordered by the load of `takenMask` that found the seat.
  func grantedHolds(_ seat: Int) -> Int { Int(granted[seat].value.load(ordering: .relaxed)) }
  func stallLimitNs(_ seat: Int) -> UInt64 { stallLimits[seat].value.load(ordering: .relaxed) }

  /// The number of the seat's current subscriber, counted from the seat's first.
  // Relaxed: as `grantedHolds`.
  func tenancy(_ seat: Int) -> UInt64 { tenancies[seat].value.load(ordering: .relaxed) }

  /// Adds the sequence numbers in all granted hold words, never more than the hold quota.
  func addHeldSequences(to held: inout FixedList<UInt64>) {
    let evictedMask = evicted.load(ordering: .sequentiallyConsistent)
    for seat in SetBits(takenMask) {
      let page = page(seat)
      let isEvicted = evictedMask >> UInt64(seat) & 1 != 0
      for index in 0..<grantedHolds(seat) {
        // SYNC hold/reuse, the reading side: after the caller's full fence; pairs with the
        // subscriber's store of the word before its own full fence.
        // SYNC hold/release: acquire; pairs with the releasing store in `Attachment.release`, which
        // comes after that subscriber's last read of the slot.
        let sequence = page.hold(index).loadAcquiring()
        guard sequence != 0 else { continue }
        // Relaxed: ordered by the load of `evicted`.
        if isEvicted, frozenHold(seat, index).value.load(ordering: .relaxed) != sequence {
          continue
        }
        held.append(sequence)
      }
    }
  }
}

/// The indices of the set bits, from the lowest.
struct SetBits: Sequence, IteratorProtocol {
  private var rest: UInt64

  init(_ bits: UInt64) { rest = bits }

  mutating func next() -> Int? {
    guard rest != 0 else { return nil }
    defer { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }
}
