import Platform
import Synchronization

/// Which pool is the newest, and how many holds were granted of those it has room for. Pools are
/// made by the publishing thread, for larger pictures, and by a thread of their own, for more
/// holds; grants are the control plane's.
///
/// What is granted never exceeds what the newest pool has room for, and the publishing thread draws
/// on the newest pool before it looks for a free slot: so a loan always finds one.
final class PoolBook: Sendable {
  private struct State {
    var generation: UInt32
    var slotBytes: Int
    var capacity: Int
    var granted = 0
    /// A pool for more holds that the publishing thread has yet to take.
    var grown: Pool?
  }

  /// What a pool to be made is like.
  struct Plan {
    let generation: UInt32
    let slotBytes: Int
    let holds: Int
  }

  private let state: Mutex<State>
  private let hasGrown = Atomic<Bool>(false)
  /// Held while a pool is made, which may take long: one after the other.
  private let making = Mutex<Void>(())

  init(_ pool: Pool, holds: Int) {
    state = Mutex(
      State(generation: pool.generation, slotBytes: pool.slotBytes, capacity: holds))
  }

  /// Holds that the newest pool has room for.
  var capacity: Int { state.withLock { $0.capacity } }

  /// - Returns: false if the newest pool has no room for `holds` more holds.
  func grant(_ holds: Int) -> Bool {
    state.withLock { state in
      guard state.granted + holds <= state.capacity else { return false }
      state.granted += holds
      return true
    }
  }

  func takeBack(_ holds: Int) { state.withLock { $0.granted -= holds } }

  /// Publishing thread: replaces the newest pool by one of larger slots.
  /// - Parameter holds: what it should have room for; it has room for all that was granted.
  func replace(
    slotBytes: Int, holds: Int, by make: (Plan) throws(PublisherError) -> Pool
  ) throws(PublisherError) -> Pool {
    try making.withLock { _ throws(PublisherError) in
      let (plan, before) = state.withLock { state in
        let before = state.capacity
        let room = max(holds, state.granted)
        // From now on, not from the pool's first frame: nothing more is granted than it will hold.
        state.capacity = min(before, room)
        return (
          Plan(generation: state.generation + 1, slotBytes: slotBytes, holds: room), before
        )
      }
      do throws(PublisherError) {
        let pool = try make(plan)
        note(pool, plan)
        return pool
      } catch {
        state.withLock { $0.capacity = before }
        throw error
      }
    }
  }

  /// Makes a pool of the same slots with room for more holds, which the publishing thread takes
  /// with its next loan.
  /// - Returns: nil if there is room by now.
  func grow(
    toHold holds: Int, by make: (Plan) throws(PublisherError) -> Pool
  ) throws(PublisherError) -> Pool? {
    try making.withLock { _ throws(PublisherError) in
      let plan = state.withLock { state in
        Plan(generation: state.generation + 1, slotBytes: state.slotBytes, holds: holds)
      }
      guard holds > capacity else { return nil }
      let pool = try make(plan)
      note(pool, plan, isGrown: true)
      return pool
    }
  }

  private func note(_ pool: Pool, _ plan: Plan, isGrown: Bool = false) {
    state.withLock { state in
      state.generation = plan.generation
      state.slotBytes = plan.slotBytes
      state.capacity = plan.holds
      state.grown = isGrown ? pool : nil
      // Released by the lock, and before anything is granted of it.
      hasGrown.store(isGrown, ordering: .releasing)
    }
  }

  /// Publishing thread: a pool that was made for more holds, once.
  @inline(__always)
  func takeGrown() -> Pool? {
    guard hasGrown.load(ordering: .acquiring) else { return nil }
    return state.withLock { state in
      hasGrown.store(false, ordering: .releasing)
      return state.grown.take()
    }
  }
}
