/// The moments between two steps that other processes can see, numbered: tests kill a process at
/// each. docs/design/notifications.md says what is true there.
package enum NotifyStep: Int, CaseIterable, Sendable {
  // The first post of a name
  case rowTaken = 1
  case rowNamed, nameTold
  // Each post
  case counted, rung
  // Who observes first in a table
  case directoryMade, directoryNamed, seatLocked, socketBound, seatTaken, epochRaised
  // Each observation, and its end
  case marked, unmarked
  // Each wake-up
  case drained, armed
  // Who leaves in order
  case socketRemoved
}

package typealias OnStep = (@Sendable (NotifyStep) -> Void)?
