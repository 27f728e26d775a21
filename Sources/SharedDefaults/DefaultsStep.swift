/// The points between two steps of a change that other processes can see. Tests kill a process at
/// each point. docs/design/defaults-journal.md describes the state at each.
package enum DefaultsStep: Int, CaseIterable, Sendable {
  /// The lock is held; nothing is changed.
  case locked = 1
  /// The record is written after the journal's end.
  case recordWritten
  /// The journal's end includes the record, so the change is effective.
  case extentMoved
  /// Observers were woken.
  case rung
  /// The file is marked retired, so readers check for its successor.
  case retired
  /// The new file has replaced the old one.
  case replaced
  /// A successor of a file with a long journal is written and synced. The lock is not held.
  case prepared
}

package typealias OnDefaultsStep = (@Sendable (DefaultsStep) -> Void)?
