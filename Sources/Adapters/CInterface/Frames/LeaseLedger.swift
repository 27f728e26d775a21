import CFrameBus
import FrameBus
import Synchronization

/// A place for one lease of C. Its handle is valid while it has one.
///
/// The subscriber's thread fills it; any thread empties it, also after the subscriber is closed.
@safe final class LeaseBox: Handled, @unchecked Sendable {
  // because the lease changes hands by `state`: the subscriber fills a free place alone, and the
  // thread that ends the handle empties it alone

  static let kind = HandleKind.lease

  private enum State {
    static let free: UInt8 = 0
    static let held: UInt8 = 1
    /// Held, and its subscriber was closed.
    static let orphaned: UInt8 = 2
  }

  /// SAFETY: allocated in init, freed in deinit; initialised while the handle is valid.
  private let lease = UnsafeMutablePointer<FrameLease>.allocate(capacity: 1)
  private let state = Atomic<UInt8>(State.free)
  private let table = HandleTable.shared
  private var index = 0

  init() throws(CFailure) { index = try HandleTable.shared.reserve(self) }

  deinit { unsafe lease.deallocate() }

  @inline(__always)
  var isFree: Bool { state.load(ordering: .acquiring) == State.free }

  /// The format of a frame whose handle is valid.
  var format: FrameFormat { unsafe lease.pointee.format }

  /// The metadata of a frame whose handle is valid, as C receives it.
  var metadata: framebus_metadata {
    unsafe framebus_metadata(lease.pointee.metadata, damage: lease.pointee.damage)
  }

  /// Subscriber's thread: fills a free place.
  @inline(__always)
  func fill(_ lease: consuming FrameLease) -> OpaquePointer? {
    unsafe self.lease.initialize(to: lease)
    // Relaxed: the handle's stamp publishes both.
    state.store(State.held, ordering: .relaxed)
    return unsafe table.activate(index, .lease)
  }

  /// The thread that ended the handle: releases the frame.
  @inline(__always)
  func empty() {
    unsafe lease.deinitialize(count: 1)
    if state.exchange(State.free, ordering: .acquiringAndReleasing) == State.orphaned {
      HandleTable.shared.release(index)
    }
  }

  /// Subscriber's thread, which uses the place no more.
  func orphan() {
    let (isHeld, _) = state.compareExchange(
      expected: State.held, desired: State.orphaned, ordering: .acquiringAndReleasing)
    if !isHeld { HandleTable.shared.release(index) }
  }
}

/// A subscriber's places for leases: as many as it may hold, and more only while leases of an
/// earlier publisher are held.
@safe struct LeaseLedger: ~Copyable {
  /// SAFETY: its entry in the table of handles retains each until `orphan`. Not retained here,
  /// because counting references for each frame takes longer than finding a place.
  private var places: [Unmanaged<LeaseBox>] = unsafe []

  /// A free place, before a frame is received for it.
  @inline(__always)
  mutating func freePlace() throws(CFailure) -> Unmanaged<LeaseBox> {
    for index in unsafe places.indices {
      let place = unsafe places[index]
      if unsafe place._withUnsafeGuaranteedRef({ $0.isFree }) { return unsafe place }
    }
    return try unsafe addPlace()
  }

  @inline(never)
  private mutating func addPlace() throws(CFailure) -> Unmanaged<LeaseBox> {
    let place = unsafe Unmanaged.passUnretained(try LeaseBox())
    unsafe places.append(place)
    return unsafe place
  }

  var heldCount: Int {
    unsafe places.count { place in unsafe !place._withUnsafeGuaranteedRef { $0.isFree } }
  }

  deinit {
    for index in unsafe places.indices { unsafe places[index].takeUnretainedValue().orphan() }
  }
}
