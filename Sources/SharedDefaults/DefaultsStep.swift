/// The moments between two steps of a change that other processes can see, numbered: tests kill a
/// process at each. docs/design/defaults-journal.md says what is true there.
package enum DefaultsStep: Int, CaseIterable, Sendable {
  /// The lock is held, nothing is changed.
  case locked = 1
  /// The record stands behind the journal's end.
  case recordWritten
  /// The end includes it: now it counts.
  case extentMoved
  /// Observers were rung for.
  case rung
  /// Readers look whether another file takes the place of this one.
  case retired
  /// Another file has taken its place.
  case replaced
}

package typealias OnDefaultsStep = (@Sendable (DefaultsStep) -> Void)?
