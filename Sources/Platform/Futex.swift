import CLinuxShims
import Glibc
import Synchronization

/// A futex word that only this process sees.
package final class PrivateFutexWord: Sendable {
  private let value = Atomic<UInt32>(0)

  package init() {}

  package func load() -> UInt32 { value.load(ordering: .acquiring) }
  package func store(_ new: UInt32) { value.store(new, ordering: .releasing) }
  package func increment() { value.wrappingAdd(1, ordering: .acquiringAndReleasing) }
  package func wakeAll() { unsafe linux_futex_wake_all(address, true) }

  /// SAFETY: an `Atomic` stored in a class instance has a stable address for the instance's life.
  package var address: UnsafePointer<UInt32> {
    unsafe withUnsafePointer(to: value) {
      unsafe UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self)
    }
  }
}

/// Sleeps until a watched word no longer has its expected value and is woken, or the deadline
/// passes: `futex_waitv(2)`, Linux 5.16. May return early: the caller looks again.
/// - Returns: false if the deadline passed and nobody woke the caller before.
/// - Parameters:
///   - shared: a word in a mapping that outlives the call.
///   - privates: a word of this process, with the value it must still have.
@discardableResult
@unsafe package func sleepOnFutexes(
  shared: UnsafePointer<UInt32>?, expecting value: UInt32,
  privates: (first: PrivateFutexWord, expecting: UInt32)?, _ stop: PrivateFutexWord? = nil,
  until deadline: Deadline
) -> Bool {
  var waits: InlineArray<3, linux_futex_wait> = unsafe InlineArray(repeating: linux_futex_wait())
  var count = 0
  func watch(_ word: UnsafePointer<UInt32>, _ expected: UInt32, isPrivate: Bool) {
    unsafe waits[count] = linux_futex_wait(word: word, expected: expected, isPrivate: isPrivate)
    count += 1
  }
  if let shared = unsafe shared { unsafe watch(shared, value, isPrivate: false) }
  if let privates { unsafe watch(privates.first.address, privates.expecting, isPrivate: true) }
  if let stop { unsafe watch(stop.address, 0, isPrivate: true) }
  let watched = UInt32(count)
  return unsafe waits.span.withUnsafeBufferPointer {
    unsafe linux_futex_wait_any($0.baseAddress, watched, deadline.monotonicNs) >= 0
      || errno != ETIMEDOUT
  }
}

/// Wakes every process that sleeps on a word of a shared mapping.
@unsafe package func wakeSleepers(on word: UnsafePointer<UInt32>) {
  unsafe linux_futex_wake_all(word, false)
}

/// The processor's hint for a spin loop.
@inline(__always)
package func spinHint() { linux_spin_hint() }

/// This process's number and user.
package func currentProcessID() -> Int32 { getpid() }
