import Confinement
import Platform
import SharedLog

/// Withholds samples from an extension that has little of its memory budget left, so that it can
/// send what it has queued before it receives more. Without a budget it withholds none.
struct SampleThrottle {
  private var withheld: [SampleBufferType: UInt64] = [:]
  private var isShort = false

  private static let label = "broadcast.extension"

  /// Counts a received sample.
  /// - Returns: the number of samples of its kind withheld before it; nil if it is withheld too.
  mutating func count(_ type: SampleBufferType, _ log: SharedLog) -> UInt64? {
    if ConfinedProcess.memoryLevel >= .low {
      if !isShort {
        log.append(
          .warning, "nine tenths of the memory budget are used: dropping samples",
          label: Self.label)
        isShort = true
      }
      // Freed memory counts against the budget until the kernel has it back.
      returnFreeMemory()
      withheld[type, default: 0] += 1
      return nil
    }
    if isShort {
      let count = withheld.values.reduce(0, +)
      log.append(
        .notice, "memory is available again", label: Self.label,
        metadata: [LogField("dropped", "\(count)")])
      isShort = false
    }
    return withheld.removeValue(forKey: type) ?? 0
  }
}
