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
    var newest: Pool
    /// Holds that the newest pool has room for.
    var capacity: Int
    var granted = 0
  }

  /// What a pool to be made is like.
  struct Plan {
    let generation: UInt32
    let slotBytes: Int
    let holds: Int
  }

  private let options: PublisherOptions
  private let state: Mutex<State>
  /// Whether the newest pool is one for more holds that the publishing thread has yet to take.
  private let hasGrown = Atomic<Bool>(false)
  /// Held while a pool is made, which may take long: one after the other.
  private let making = Mutex<Void>(())

  /// Makes the first pool.
  init(
    slotBytes: Int, _ options: PublisherOptions, by make: (Plan) throws(PublisherError) -> Pool
  ) throws(PublisherError) {
    self.options = options
    let holds = options.firstHolds(ofSlots: slotBytes)
    let pool = try make(Plan(generation: 1, slotBytes: slotBytes, holds: holds))
    state = Mutex(State(newest: pool, capacity: holds))
  }

  var newest: Pool { state.withLock { $0.newest } }

  /// - Returns: false if the newest pool has no room for `holds` more holds.
  func grant(_ holds: Int) -> Bool {
    state.withLock { state in
      guard state.granted + holds <= state.capacity else { return false }
      state.granted += holds
      return true
    }
  }

  func takeBack(_ holds: Int) { state.withLock { $0.granted -= holds } }

  /// Publishing thread: replaces the newest pool by one of larger slots, with room for all that was
  /// granted.
  func replace(
    slotBytes: Int, by make: (Plan) throws(PublisherError) -> Pool
  ) throws(PublisherError) -> Pool {
    try making.withLock { _ throws(PublisherError) in
      let (plan, before) = state.withLock { state in
        let before = state.capacity
        let room = max(options.firstHolds(ofSlots: slotBytes), state.granted)
        // From now on, not from the pool's first frame: nothing more is granted than it will hold.
        state.capacity = min(before, room)
        return (
          Plan(generation: state.newest.generation + 1, slotBytes: slotBytes, holds: room), before
        )
      }
      do throws(PublisherError) {
        let pool = try make(plan)
        note(pool, plan, isGrown: false)
        return pool
      } catch {
        state.withLock { $0.capacity = before }
        throw error
      }
    }
  }

  /// Makes a pool of the same slots with room for all holds that may be granted, which the
  /// publishing thread takes with its next loan. Makes none if there is that room.
  func grow(by make: (Plan) throws(PublisherError) -> Pool) throws(PublisherError) {
    try making.withLock { _ throws(PublisherError) in
      let (plan, capacity) = state.withLock { state in
        let slotBytes = state.newest.slotBytes
        return (
          Plan(
            generation: state.newest.generation + 1, slotBytes: slotBytes,
            holds: options.holds(ofSlots: slotBytes)), state.capacity
        )
      }
      guard plan.holds > capacity else { return }
      note(try make(plan), plan, isGrown: true)
    }
  }

  private func note(_ pool: Pool, _ plan: Plan, isGrown: Bool) {
    state.withLock { state in
      state.newest = pool
      state.capacity = plan.holds
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
      return state.newest
    }
  }
}
