/// The moments between two steps that other processes can see, numbered: tests kill a process at
/// each. docs/design/semaphores.md says what is true there.
package enum SemaphoreStep: Int, CaseIterable, Sendable {
  // Making
  case fileMade = 1
  case fileWritten, fileNamed
  // The first wait on a recoverable semaphore
  case placeLocked, seated
  // Waiting
  case permitTaken
  // Posting, or giving back what a dead process held
  case permitFreed, bellRung
  // Giving back what a dead process held
  case deathFound, deadForgotten
  // A plain semaphore
  case countTaken, countPosted
}

package typealias OnStep = (@Sendable (SemaphoreStep) -> Void)?
