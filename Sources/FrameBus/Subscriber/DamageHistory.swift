import CFrameLayout
import Synchronization

/// Accumulates the damage since the frame that a subscriber received last. Each descriptor has the
/// damage since the frame before it, so dropped frames count too.
struct DamageHistory {
  private var last: (sequence: UInt64, formatEpoch: UInt64)?

  /// The damage between the last received frame and this one. It is `.full` if unknown: for the
  /// first frame, after a change of format or a discontinuity, and when the descriptor of a frame
  /// in between has been overwritten.
  /// - Parameter standing: a copy of a frame's descriptor, nil if it has been overwritten.
  /// - Returns: nil if no frame lies in between; the frame's own damage applies.
  @inline(__always)
  mutating func advance(
    to sequence: UInt64, formatEpoch: UInt64, standing: (UInt64) -> fb_descriptor?
  ) -> DamageRegion? {
    let before = last
    last = (sequence, formatEpoch)
    // Epochs only grow, so if both ends are equal, all frames in between are equal too.
    guard let before, before.formatEpoch == formatEpoch else { return .full }
    if before.sequence &+ 1 == sequence { return nil }
    return Self.changes(after: before.sequence, through: sequence, standing)
  }

  private static func changes(
    after first: UInt64, through last: UInt64, _ standing: (UInt64) -> fb_descriptor?
  ) -> DamageRegion {
    guard first < last, last - first <= UInt64(FB_MAXIMUM_RING_DEPTH) else { return .full }
    var region = DamageRegion.none
    // Oldest first: it will be overwritten next.
    for sequence in first + 1...last where !region.isFull {
      guard let frame = standing(sequence) else { return .full }
      region.formUnion(frame.changes)
    }
    return region
  }
}

extension fb_descriptor {
  /// The damage since the previous frame.
  var changes: DamageRegion {
    FrameFlags(rawValue: flags).contains(.discontinuity) ? .full : DamageRegion(self)
  }
}

extension PinLedger.Record {
  /// The damage since the last received frame.
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
