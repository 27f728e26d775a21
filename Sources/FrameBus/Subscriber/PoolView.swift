import CFrameLayout
import Platform

/// A subscriber's read-only mapping of a pool.
final class PoolView: Sendable {
  let generation: UInt32
  let slotCount: Int
  let slotBytes: Int
  let mapping: Mapping

  /// The largest slot size, so that no sum of offsets overflows.
  static let maximumSlotBytes = 1 << 39
  /// Pools that are kept for the frames in a ring, at most.
  static let mostKept = 8
  /// More slots than any publisher has.
  private static let maximumSlotCount =
    UInt32(FB_MAXIMUM_RING_DEPTH + FB_MAXIMUM_SUBSCRIBERS * FB_MAXIMUM_HOLDS) + 64

  /// - Returns: nil if the numbers are out of range or the memory is not sealed against shrinking.
  init?(_ description: fb_pool_description, memory: consuming Descriptor) {
    guard (1...Self.maximumSlotCount).contains(description.slot_count), description.slot_bytes > 0,
      description.slot_bytes % UInt64(PageRow.pageBytes) == 0,
      description.slot_bytes <= UInt64(Self.maximumSlotBytes)
    else { return nil }
    generation = description.generation
    slotCount = Int(description.slot_count)
    slotBytes = Int(description.slot_bytes)
    let byteCount = slotCount.multipliedReportingOverflow(by: slotBytes)
    guard !byteCount.overflow,
      let file = MemoryFile(received: memory, byteCount: byteCount.partialValue),
      let mapping = try? Mapping(file, .read)
    else { return nil }
    self.mapping = mapping
  }
}
