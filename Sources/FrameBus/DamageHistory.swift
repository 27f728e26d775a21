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
  mutating func advance(
    to frame: fb_descriptor, standing: (UInt64) -> fb_descriptor?
  ) -> DamageRegion {
    defer { last = (frame.sequence, frame.format_epoch) }
    // Epochs only grow, so equal ones at both ends are equal in between.
    guard let last, last.formatEpoch == frame.format_epoch, last.sequence < frame.sequence,
      frame.sequence - last.sequence <= UInt64(FB_MAXIMUM_RING_DEPTH)
    else { return .full }
    var region = frame.changes
    // The oldest first: it is the next to be overwritten.
    var sequence = last.sequence + 1
    while sequence < frame.sequence, !region.isFull {
      guard let skipped = standing(sequence) else { return .full }
      region.formUnion(skipped.changes)
      sequence += 1
    }
    return region
  }
}

extension fb_descriptor {
  /// What changed since the frame before.
  fileprivate var changes: DamageRegion {
    FrameFlags(rawValue: flags).contains(.discontinuity) ? .full : DamageRegion(self)
  }
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
