/// The moments between two steps that other processes can see, numbered: tests kill a process at
/// each. docs/design/semaphores.md lists the state at each step.
package enum SemaphoreStep: Int, CaseIterable, Sendable {
  // Creating
  case fileMade = 1
  case fileWritten, fileNamed
  // First wait on a recoverable semaphore
  case entryLocked, entryClaimed
  // Waiting
  case permitTaken
  // Posting, or reclaiming from a dead holder
  case permitFreed, bellRung
  // Reclaiming from a dead holder
  case deadHolderFound, deadHolderCleared
  // Plain semaphores
  case countTaken, countPosted
}

package typealias OnStep = (@Sendable (SemaphoreStep) -> Void)?
