import AppGroup
import Platform
import Synchronization

/// Measures that a confined process applies to itself, because exec undoes them or no other process
/// can: it closes its memory to other processes of its user, and watches its memory budget.
package enum ConfinedProcess {
  /// The environment variable that framebus-confine sets.
  package static let variable = GroupVariables.confined

  /// Exit status of a process that exceeded its memory budget.
  static let exceededStatus: Int32 = 122

  private static let memory = Mutex<MemoryWatch?>(nil)

  /// How much of its budget this process uses. From `low` on, it should drop frames.
  package static var memoryLevel: MemoryLevel { memory.withLock { $0?.level } ?? .enough }

  /// Call this first in a program. Does nothing in a process that is not confined, and nothing when
  /// called again.
  package static func keepOwnMeasures() throws(SystemError) {
    if environmentValue(variable) == nil || memory.withLock({ $0 != nil }) { return }
    try keepMemoryPrivate()
    guard let budget = environmentValue(MemoryWatch.variable).flatMap({ UInt64($0) }) else {
      return
    }
    let group = environmentValue(MemoryWatch.groupVariable)
    let watch = MemoryWatch(budgetBytes: budget, in: group) { level in
      if level == .exceeded { exitOverBudget(budget) }
    }
    memory.withLock { $0 = watch }
  }

  private static func exitOverBudget(_ budgetBytes: UInt64) {
    let text =
      "error: this process exceeded its memory budget of \(budgetBytes >> 20) MiB;"
      + " raise the budget, or send smaller or fewer frames\n"
    try? writeFully(Array(text.utf8), to: 2)
    exitProcess(exceededStatus)
  }
}
