/// The moments between two steps that other processes can see, numbered. Tests kill a process at
/// each; docs/design/notifications.md says what holds there.
package enum NotifyStep: Int, CaseIterable, Sendable {
  // First post of a name
  case rowTaken = 1
  case rowNamed, namePublished
  // Each post
  case counted, rung
  // A table's first observer
  case directoryMade, directoryNamed, seatLocked, socketBound, seatTaken, epochRaised
  // Begin and end of each observation
  case marked, unmarked
  // Each wake-up
  case drained, armed
  // Orderly end
  case socketRemoved
}

package typealias OnStep = (@Sendable (NotifyStep) -> Void)?
