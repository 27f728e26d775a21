import Platform
import Synchronization

/// What a confined process does for itself, because the start of a program undoes it or because
/// nobody else can: its memory is closed to other processes of its user, and it watches its budget.
package enum ConfinedProcess {
  /// The environment variable by which framebus-confine says that it was there.
  package static let variable = "FRAMEBUS_CONFINED"

  /// The status of a process that ended because it took more memory than its budget.
  static let exceededStatus: Int32 = 122

  private static let memory = Mutex<MemoryWatch?>(nil)

  /// How much of its budget this process has taken: from `low` on, frames are better dropped.
  package static var memoryLevel: MemoryLevel { memory.withLock { $0?.level } ?? .enough }

  /// Called before anything else. Does nothing in a process that is not confined, nor a second
  /// time.
  package static func keepOwnMeasures() throws(SystemError) {
    if environmentValue(variable) == nil || memory.withLock({ $0 != nil }) { return }
    try keepMemoryPrivate()
    guard let budget = environmentValue(MemoryWatch.variable).flatMap({ UInt64($0) }) else {
      return
    }
    let group = environmentValue(MemoryWatch.groupVariable)
    let watch = MemoryWatch(budgetBytes: budget, in: group) { level in
      if level == .exceeded { endForWantOfMemory(budget) }
    }
    memory.withLock { $0 = watch }
  }

  private static func endForWantOfMemory(_ budgetBytes: UInt64) {
    let text =
      "error: this process took more memory than its budget of \(budgetBytes >> 20) MiB;"
      + " raise the budget, or send smaller or fewer frames\n"
    try? writeFully(Array(text.utf8), to: 2)
    exitProcess(exceededStatus)
  }
}
