import CFrameLayout
import Platform
import Synchronization

/// The subscribers' places, as publishing thread and control plane share them: which are taken,
/// how many hold words each was granted, and the pages behind them.
///
/// The control plane fills and empties places; the publishing thread only reads, without a lock.
final class Places: Sendable {
  static let count = Int(FB_MAXIMUM_SUBSCRIBERS)

  private let pages: PageRow
  private let taken = Atomic<UInt64>(0)
  /// Those of the taken places whose subscriber said that it is there.
  private let seated = Atomic<UInt64>(0)
  private let lossless = Atomic<UInt64>(0)
  /// Granted hold words, a byte a place.
  private let granted: [Atomic8]
  private let stallLimits: [Atomic64]
  /// What the hold words of an evicted place named when it was evicted, those of each place after
  /// the other.
  private let frozen: [Atomic64]
  private let evicted = Atomic<UInt64>(0)
  /// How many subscribers each place has had.
  private let tenancies: [Atomic64]

  /// Arrays hold classes here because atomics cannot be copied.
  private final class Atomic8: Sendable { let value = Atomic<UInt8>(0) }
  private final class Atomic64: Sendable { let value = Atomic<UInt64>(0) }

  init() throws(SystemError) {
    pages = try PageRow(count: Self.count)
    granted = (0..<Self.count).map { _ in Atomic8() }
    stallLimits = (0..<Self.count).map { _ in Atomic64() }
    frozen = (0..<Self.count * Int(FB_MAXIMUM_HOLDS)).map { _ in Atomic64() }
    tenancies = (0..<Self.count).map { _ in Atomic64() }
  }

  /// Control plane: lists a subscriber. Its page must be mapped before, and its descriptors sent
  /// after, or it could pin a frame unseen.
  func take(
    _ place: Int, page: borrowing MemoryFile, holds: Int, losslessStallLimitNs: UInt64?
  ) throws(SystemError) {
    try pages.fill(place, with: page)
    // Relaxed: published by the store to `taken` below.
    granted[place].value.store(UInt8(holds), ordering: .relaxed)
    tenancies[place].value.wrappingAdd(1, ordering: .relaxed)
    if let losslessStallLimitNs {
      stallLimits[place].value.store(losslessStallLimitNs, ordering: .relaxed)
      lossless.bitwiseOr(1 << UInt64(place), ordering: .sequentiallyConsistent)
    }
    // SYNC places/list: pairs with the load in `takenMask`.
    taken.bitwiseOr(1 << UInt64(place), ordering: .sequentiallyConsistent)
  }

  /// Control plane: counts a subscriber that has taken its place.
  func seat(_ place: Int) {
    seated.bitwiseOr(1 << UInt64(place), ordering: .releasing)
  }

  /// Control plane: from now on honours no holds of a subscriber but those that it has at this
  /// moment. After a full fence after the subscriber could see that it is evicted.
  func evict(_ place: Int) {
    let bit = UInt64(1) << UInt64(place)
    lossless.bitwiseAnd(~bit, ordering: .sequentiallyConsistent)
    seated.bitwiseAnd(~bit, ordering: .releasing)
    for index in 0..<grantedHolds(place) {
      // SYNC hold/evict: acquire; after the caller's full fence.
      // Relaxed: published by the store to `evicted` below.
      let sequence = page(place).hold(index).loadAcquiring()
      frozenHold(place, index).value.store(sequence, ordering: .relaxed)
    }
    evicted.bitwiseOr(bit, ordering: .sequentiallyConsistent)
  }

  private func frozenHold(_ place: Int, _ index: Int) -> Atomic64 {
    frozen[place * Int(FB_MAXIMUM_HOLDS) + index]
  }

  /// Control plane: forgets a subscriber, and with it everything it held.
  func leave(_ place: Int) {
    let others = ~(UInt64(1) << UInt64(place))
    lossless.bitwiseAnd(others, ordering: .sequentiallyConsistent)
    seated.bitwiseAnd(others, ordering: .releasing)
    taken.bitwiseAnd(others, ordering: .sequentiallyConsistent)
    evicted.bitwiseAnd(others, ordering: .sequentiallyConsistent)
    // A page that cannot be unmapped stays readable, and nobody looks at it any more.
    try? pages.empty(place)
  }

  /// Control plane: ends lossless delivery to one subscriber, if it still has the place: by now
  /// that may be another's, who did nothing to lose it. True if it was lossless.
  func endLossless(_ place: Int, of tenancy: UInt64) -> Bool {
    guard self.tenancy(place) == tenancy else { return false }
    let bit = UInt64(1) << UInt64(place)
    return lossless.bitwiseAnd(~bit, ordering: .sequentiallyConsistent).oldValue & bit != 0
  }

  // SYNC places/list: pairs with the stores in `take` and `leave`.
  @inline(__always)
  var takenMask: UInt64 { taken.load(ordering: .sequentiallyConsistent) }
  @inline(__always)
  var losslessMask: UInt64 { lossless.load(ordering: .sequentiallyConsistent) }

  var takenCount: Int { takenMask.nonzeroBitCount }
  var seatedMask: UInt64 { seated.load(ordering: .acquiring) }

  @inline(__always)
  func page(_ place: Int) -> SubscriberPage {
    // SAFETY: the row lives as long as self, and every place of it can be read at any time.
    unsafe SubscriberPage(pages, place: place)
  }

  // Relaxed: ordered by the load of `takenMask` that found the place.
  func grantedHolds(_ place: Int) -> Int { Int(granted[place].value.load(ordering: .relaxed)) }
  func stallLimitNs(_ place: Int) -> UInt64 { stallLimits[place].value.load(ordering: .relaxed) }

  /// Which of a place's subscribers, one after the other, it has now.
  // Relaxed: as `grantedHolds`.
  func tenancy(_ place: Int) -> UInt64 { tenancies[place].value.load(ordering: .relaxed) }

  /// Adds the sequence numbers that granted hold words name now. Never more than the hold quota.
  func addHeldSequences(to held: inout FixedList<UInt64>) {
    let evictedMask = evicted.load(ordering: .sequentiallyConsistent)
    for place in SetBits(takenMask) {
      let page = page(place)
      let isEvicted = evictedMask >> UInt64(place) & 1 != 0
      for index in 0..<grantedHolds(place) {
        // SYNC hold/reuse, the reading side: after the caller's full fence; pairs with the
        // subscriber's store of the word before its own full fence.
        // SYNC hold/release: acquire; pairs with the releasing store in `Attachment.release`, which
        // comes after that subscriber's last read of the slot.
        let sequence = page.hold(index).loadAcquiring()
        guard sequence != 0 else { continue }
        // Relaxed: ordered by the load of `evicted`.
        if isEvicted, frozenHold(place, index).value.load(ordering: .relaxed) != sequence {
          continue
        }
        held.append(sequence)
      }
    }
  }
}

/// The numbers of the bits that are set, from the lowest.
struct SetBits: Sequence, IteratorProtocol {
  private var rest: UInt64

  init(_ bits: UInt64) { rest = bits }

  mutating func next() -> Int? {
    guard rest != 0 else { return nil }
    defer { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }
}
