import CLinuxShims
import Glibc
import Synchronization

/// A futex word private to this process.
package final class PrivateFutexWord: Sendable {
  private let value = Atomic<UInt32>(0)

  package init() {}

  package func load() -> UInt32 { value.load(ordering: .acquiring) }
  package func store(_ new: UInt32) { value.store(new, ordering: .releasing) }
  package func increment() { value.wrappingAdd(1, ordering: .acquiringAndReleasing) }
  package func wakeAll() { unsafe linux_futex_wake(address, .max, true) }

  /// SAFETY: an `Atomic` stored in a class instance has a stable address for the instance's life.
  package var address: UnsafePointer<UInt32> {
    unsafe withUnsafePointer(to: value) {
      unsafe UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self)
    }
  }
}

/// Sleeps until a watched word no longer has its expected value and is woken, or the deadline
/// passes: `futex_waitv(2)`, Linux 5.16. May return early: the caller checks again.
/// - Returns: false if the deadline passed without a wake-up.
/// - Parameters:
///   - shared: a word in a mapping that outlives the call.
///   - privates: a word of this process, with its expected value.
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

/// Wakes the sleepers on a word of a shared mapping, in all processes.
/// - Returns: the number of woken sleepers, at most the limit.
@discardableResult
@unsafe package func wakeSleepers(
  on word: UnsafePointer<UInt32>, atMost limit: Int32 = .max
) -> Int {
  unsafe linux_futex_wake(word, limit, false)
}

/// Several words to sleep on at once: `futex_waitv(2)`. Reused between sleeps to avoid allocation.
@safe package struct FutexWaits: ~Copyable, @unchecked Sendable {  // because only the words it
  // points to are shared
  /// The kernel's maximum number of words.
  package static let maximumCount = Int(LINUX_MAXIMUM_WAITS)

  /// SAFETY: the caller that adds a word keeps it alive during each sleep.
  private var waits: [linux_futex_wait] = unsafe []

  package init() {}

  package mutating func removeAll() { unsafe waits.removeAll(keepingCapacity: true) }

  /// Adds a word of a mapping that outlives the sleep.
  @unsafe package mutating func add(shared word: UnsafePointer<UInt32>, expecting value: UInt32) {
    // SAFETY: the kernel reads the word during the sleep, which the caller's mapping outlives.
    unsafe waits.append(linux_futex_wait(word: word, expected: value, isPrivate: false))
  }

  /// Adds a word that outlives the sleep.
  package mutating func add(_ word: PrivateFutexWord, expecting value: UInt32) {
    // SAFETY: as above; the caller keeps the object.
    unsafe waits.append(linux_futex_wait(word: word.address, expected: value, isPrivate: true))
  }

  /// Sleeps until a word no longer has its expected value and is woken, or the deadline passes. May
  /// return early.
  /// - Returns: false if the deadline passed without a wake-up.
  package borrowing func sleep(until deadline: Deadline) -> Bool {
    // SAFETY: the callers of `add` keep the words alive during the sleep.
    unsafe waits.withUnsafeBufferPointer {
      unsafe linux_futex_wait_any($0.baseAddress, UInt32($0.count), deadline.monotonicNs) >= 0
        || errno != ETIMEDOUT
    }
  }
}

/// The processor's hint for a spin loop.
@inline(__always)
package func spinHint() { linux_spin_hint() }

/// This process's ID.
package func currentProcessID() -> Int32 { getpid() }

/// The number of processors that the calling thread may use (`sched_getaffinity(2)`).
package func processorCount() -> Int { Int(linux_processor_count()) }

/// Lets other runnable threads use this processor first (`sched_yield(2)`).
package func yieldProcessor() { sched_yield() }
