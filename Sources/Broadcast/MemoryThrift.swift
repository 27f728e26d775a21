import Confinement
import Platform
import SharedLog

/// Withholds samples from an extension that has little of its memory budget left, so that what it
/// has still to send can go before more comes. Without a budget it withholds none.
struct MemoryThrift {
  private var withheld: [SampleBufferType: UInt64] = [:]
  private var isShort = false

  private static let label = "broadcast.extension"

  /// Counts a sample that came.
  /// - Returns: how many of its kind were withheld before it; nil if it is withheld itself.
  mutating func count(_ type: SampleBufferType, _ log: SharedLog) -> UInt64? {
    if ConfinedProcess.memoryLevel >= .low {
      if !isShort {
        log.append(
          .warning, "nine tenths of the memory budget are taken: samples are dropped",
          label: Self.label)
        isShort = true
      }
      // What was freed counts until the system has it back.
      returnFreeMemory()
      withheld[type, default: 0] += 1
      return nil
    }
    if isShort {
      let count = withheld.values.reduce(0, +)
      log.append(
        .notice, "there is memory again", label: Self.label,
        metadata: [LogField("dropped", "\(count)")])
      isShort = false
    }
    return withheld.removeValue(forKey: type) ?? 0
  }
}
