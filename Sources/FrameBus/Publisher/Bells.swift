import Platform
import Synchronization

/// The private wake-ups of each seat's subscriber: its bell's socket, and its semaphore if it
/// requested one.
///
/// Ringing never blocks, but the peer controls its cost: if thousands of threads poll the other
/// end, all of them wake up. So each ring is timed, and a seat whose ring took long is left to the
/// wake thread until its rings have been quick again for a while.
final class Bells: Sendable {
  /// The wake-ups of one seat. The owner of both removes them from here before it closes them.
  private struct Bell {
    var socket: Int32 = -1
    var semaphore: WakeSemaphore?
  }

  private final class Seat: Sendable {
    /// Locked only to ring or replace the bell, so that it does not change while it is rung.
    let bell = Mutex(Bell())
    let pace = Pace()
  }

  private let seats = (0..<Seats.count).map { _ in Seat() }

  /// A ring that takes longer than this is slow.
  private static let slowNs: UInt64 = 100_000

  func set(socket: Int32, _ semaphore: WakeSemaphore?, at seat: Int) {
    seats[seat].bell.withLock { $0 = Bell(socket: socket, semaphore: semaphore) }
  }

  func remove(_ seat: Int) {
    seats[seat].bell.withLock { $0 = Bell() }
    seats[seat].pace.forget()
  }

  /// Publishing thread: rings the seats that are known to be quick.
  /// - Returns: the sleepers that it left out.
  func ringQuickly(_ sleepers: Sleepers) -> Sleepers {
    var left = Sleepers()
    for seat in SetBits(sleepers.bells | sleepers.semaphores) {
      // A thread that holds the lock now may have rung before our frame was published.
      let isDone =
        !seats[seat].pace.isSlow
        && seats[seat].bell.withLockIfAvailable { ring($0, seat, sleepers) } != nil
      if !isDone { left.add(seat, of: sleepers) }
    }
    return left
  }

  /// Wake thread: rings them all.
  func ring(_ sleepers: Sleepers) {
    for seat in SetBits(sleepers.bells | sleepers.semaphores) {
      seats[seat].bell.withLock { ring($0, seat, sleepers) }
    }
  }

  private func ring(_ bell: Bell, _ seat: Int, _ sleepers: Sleepers) {
    // SYNC bell/silence: rung after the frame's cursor was stored; pairs with the last poll after
    // the bells were read (Subscriber.pollAndArm).
    let start = monotonicNowNs()
    if sleepers.bells & 1 << UInt64(seat) != 0, bell.socket >= 0 { ringBell(bell.socket) }
    if sleepers.semaphores & 1 << UInt64(seat) != 0 { bell.semaphore?.post() }
    seats[seat].pace.note(isSlow: monotonicNowNs() - start > Self.slowNs)
  }
}

/// The sleepers that a published frame wakes, by how they sleep.
struct Sleepers {
  /// Number of subscribers that sleep on the board's futex.
  var onFutex = 0
  /// Seats that wait for their bell, and for their semaphore.
  var bells: UInt64 = 0
  var semaphores: UInt64 = 0

  var isEmpty: Bool { onFutex == 0 && bells | semaphores == 0 }
  /// Subscribers to wake by a call each.
  var bellCount: Int { (bells | semaphores).nonzeroBitCount }

  /// Copies one seat from `other`.
  mutating func add(_ seat: Int, of other: Sleepers) {
    let bit = UInt64(1) << UInt64(seat)
    bells |= other.bells & bit
    semaphores |= other.semaphores & bit
  }
}

/// Whether waking a peer was slow recently: within a hundred quick wake-ups after the last slow
/// one.
final class Pace: Sendable {
  // Relaxed everywhere: a heuristic.
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
