import Platform
import Synchronization

/// What wakes each place's subscriber where the shared futex does not: its bell's socket, and its
/// semaphore if it asked for one.
///
/// Ringing never blocks, but what it costs is in the hands of the peer: thousands of threads that
/// poll its end all wake up at once. So each ring is timed, and a place whose ring took long is
/// left to the wake thread until its rings have been quick again for a while.
final class Bells: Sendable {
  /// What is hung at a place. Both stay their owner's, who takes them down before they go.
  private struct Bell {
    var socket: Int32 = -1
    var semaphore: WakeSemaphore?
  }

  private final class Place: Sendable {
    /// Held only to ring, or to hang a bell: so what is rung stays what it is meanwhile.
    let bell = Mutex(Bell())
    let pace = Pace()
  }

  private let places = (0..<Places.count).map { _ in Place() }

  /// A ring that takes longer than this is a slow one.
  private static let slowNs: UInt64 = 100_000

  func hang(socket: Int32, _ semaphore: WakeSemaphore?, at place: Int) {
    places[place].bell.withLock { $0 = Bell(socket: socket, semaphore: semaphore) }
  }

  func takeDown(_ place: Int) {
    places[place].bell.withLock { $0 = Bell() }
    places[place].pace.forget()
  }

  /// Publishing thread: rings the places that are known to be quick.
  /// - Returns: those it left out.
  func ringQuickly(_ sleepers: Sleepers) -> Sleepers {
    var left = Sleepers()
    for place in SetBits(sleepers.bells | sleepers.semaphores) {
      // Who else is at it now may have rung before our frame was published.
      let isDone =
        !places[place].pace.isSlow
        && places[place].bell.withLockIfAvailable { ring($0, place, sleepers) } != nil
      if !isDone { left.add(place, of: sleepers) }
    }
    return left
  }

  /// Wake thread: rings them all.
  func ring(_ sleepers: Sleepers) {
    for place in SetBits(sleepers.bells | sleepers.semaphores) {
      places[place].bell.withLock { ring($0, place, sleepers) }
    }
  }

  private func ring(_ bell: Bell, _ place: Int, _ sleepers: Sleepers) {
    // SYNC bell/silence: rung after the frame's cursor was stored; pairs with the last look after
    // the bells were taken out (Subscriber.lookAndArm).
    let start = monotonicNowNs()
    if sleepers.bells & 1 << UInt64(place) != 0, bell.socket >= 0 { ringBell(bell.socket) }
    if sleepers.semaphores & 1 << UInt64(place) != 0 { bell.semaphore?.post() }
    places[place].pace.note(isSlow: monotonicNowNs() - start > Self.slowNs)
  }
}

/// Whom a published frame is to wake, by how they sleep.
struct Sleepers {
  /// How many sleep on the board's futex.
  var onFutex = 0
  /// Places that wait for their bell, and for their semaphore.
  var bells: UInt64 = 0
  var semaphores: UInt64 = 0

  var isEmpty: Bool { onFutex == 0 && bells | semaphores == 0 }
  var count: Int { onFutex + (bells | semaphores).nonzeroBitCount }

  /// Takes one place over.
  mutating func add(_ place: Int, of other: Sleepers) {
    let bit = UInt64(1) << UInt64(place)
    bells |= other.bells & bit
    semaphores |= other.semaphores & bit
  }
}

/// Whether waking somebody has taken long of late: until a hundred quick times after the last slow
/// one.
final class Pace: Sendable {
  // Relaxed, all of it: a number to judge by.
  private let owedQuickTimes = Atomic<Int>(0)

  // Relaxed: as said above.
  var isSlow: Bool { owedQuickTimes.load(ordering: .relaxed) > 0 }

  // Relaxed: as said above.
  func note(isSlow: Bool) {
    if isSlow {
      owedQuickTimes.store(100, ordering: .relaxed)
    } else if self.isSlow {
      owedQuickTimes.wrappingSubtract(1, ordering: .relaxed)
    }
  }

  // Relaxed: as said above.
  func forget() { owedQuickTimes.store(0, ordering: .relaxed) }
}
