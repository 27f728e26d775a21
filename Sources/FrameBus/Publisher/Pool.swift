import CFrameLayout
import Platform

/// Describes a pool to a source that lets another process, such as an X server, write its slots.
public struct PoolDescriptor: Sendable {
  /// The number of the pool: a larger picture gets a new one.
  public let generation: UInt32
  /// A memory file, valid only during the callback.
  public let descriptorNumber: Int32
  /// The size of the memory file.
  public let byteCount: Int
  /// The size of a slot.
  public let slotBytes: Int
  /// The number of slots; slot N begins at N × `slotBytes`.
  public let slotCount: Int
}

/// The publisher's mapping of the slots of one pool generation.
///
/// Unmapped when the publisher uses another pool and the last loan of this one has ended.
/// Subscribers have their own mappings.
final class Pool: Sendable {
  let generation: UInt32
  let slotCount: Int
  let slotBytes: Int
  let file: MemoryFile
  let mapping: Mapping

  /// Creates, maps, offers and seals the memory, in an order that lets an X server attach to it:
  /// size seals, `willSeal`, then the seal against new writable mappings.
  init(
    stream: StreamName, generation: UInt32, slotCount: Int, slotBytes: Int,
    willSeal: ((PoolDescriptor) throws -> Void)?
  ) throws(PublisherError) {
    self.generation = generation
    self.slotCount = slotCount
    self.slotBytes = slotBytes
    let byteCount = slotCount * slotBytes
    do throws(SystemError) {
      file = try MemoryFile(named: "framebus-pool-\(stream)", byteCount: byteCount)
      mapping = try Mapping(file, .readAndWrite)
      try file.add(.size)
    } catch { throw .system(error) }
    if let willSeal {
      let description = PoolDescriptor(
        generation: generation, descriptorNumber: file.descriptor.number, byteCount: byteCount,
        slotBytes: slotBytes, slotCount: slotCount)
      do { try willSeal(description) } catch { throw .poolRefused(error) }
    }
    do throws(SystemError) { try file.add([.futureWrites, .seals]) } catch { throw .system(error) }
    crashPoint(.poolMade)
  }

  var description: fb_pool_description {
    fb_pool_description(
      generation: generation, slot_count: UInt32(slotCount), slot_bytes: UInt64(slotBytes))
  }

  /// Allocates the pages of the first slots, so that the first frames do not fault them in.
  func populate(slots count: Int) {
    mapping.populate(0..<min(count, slotCount) * slotBytes)
  }
}
