import CFrameLayout
import Synchronization

/// Adds up what changed since the frame that a subscriber received before. Each descriptor tells
/// what changed since the one before it, so those of dropped frames count too.
struct DamageHistory {
  private var last: (sequence: UInt64, formatEpoch: UInt64)?

  /// What changed between the frame received before and this one. Everything where that cannot be
  /// said: for the first frame, after a change of format or a discontinuity, and when the
  /// descriptor of a frame between has been overwritten.
  /// - Parameter standing: a copy of a frame's descriptor, if it still stands.
  /// - Returns: nil where it is what the frame's own descriptor says: no frame lies between.
  @inline(__always)
  mutating func advance(
    to sequence: UInt64, formatEpoch: UInt64, standing: (UInt64) -> fb_descriptor?
  ) -> DamageRegion? {
    let before = last
    last = (sequence, formatEpoch)
    // Epochs only grow, so equal ones at both ends are equal in between.
    guard let before, before.formatEpoch == formatEpoch else { return .full }
    if before.sequence &+ 1 == sequence { return nil }
    return Self.changes(after: before.sequence, through: sequence, standing)
  }

  private static func changes(
    after first: UInt64, through last: UInt64, _ standing: (UInt64) -> fb_descriptor?
  ) -> DamageRegion {
    guard first < last, last - first <= UInt64(FB_MAXIMUM_RING_DEPTH) else { return .full }
    var region = DamageRegion.none
    // The oldest first: it is the next to be overwritten.
    for sequence in first + 1...last where !region.isFull {
      guard let frame = standing(sequence) else { return .full }
      region.formUnion(frame.changes)
    }
    return region
  }
}

extension fb_descriptor {
  /// What changed since the frame before.
  var changes: DamageRegion {
    FrameFlags(rawValue: flags).contains(.discontinuity) ? .full : DamageRegion(self)
  }
}

extension PinLedger.Record {
  /// What changed since the frame that was received before.
  var changes: DamageRegion { damage ?? descriptor.changes }
}

extension Attachment {
  /// A copy of the descriptor of a frame that need not be pinned; nil if it has been overwritten.
  func standingDescriptor(of sequence: UInt64) -> fb_descriptor? {
    let first = board.descriptorSequence(of: sequence)
    // SYNC descriptor/fields: pairs with the last release in `PublisherCore.publish`.
    guard first.loadAcquiring() == sequence else { return nil }
    var descriptor = fb_descriptor()
    board.descriptor(of: sequence).load(into: &descriptor)
    // SYNC descriptor/seqlock: as in `pin`. Relaxed: the fence orders it.
    atomicMemoryFence(ordering: .acquiring)
    return first.loadRelaxed() == sequence ? descriptor : nil
  }
}
