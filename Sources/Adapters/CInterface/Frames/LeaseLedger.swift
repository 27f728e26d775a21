import CFrameBus
import FrameBus
import Synchronization

/// A place for one lease of C. Its handle is valid while it has one.
///
/// The subscriber's thread fills it; any thread empties it, also after the subscriber is closed.
final class LeaseBox: Handled, @unchecked Sendable {
  // because the lease changes hands by `state`: the subscriber fills a free place alone, and the
  // thread that ends the handle empties it alone

  static let kind = HandleKind.lease

  private enum State {
    static let free: UInt8 = 0
    static let held: UInt8 = 1
    /// Held, and its subscriber was closed.
    static let orphaned: UInt8 = 2
  }

  private var lease: FrameLease?
  private let state = Atomic<UInt8>(State.free)
  private var index = 0

  init() throws(CFailure) { index = try HandleTable.shared.reserve(self) }

  @inline(__always)
  var isFree: Bool { state.load(ordering: .acquiring) == State.free }

  var format: FrameFormat? {
    switch lease {
    case .some(let lease): lease.format
    case nil: nil
    }
  }

  var metadata: framebus_metadata? {
    switch lease {
    case .some(let lease): framebus_metadata(lease.metadata, damage: lease.damage)
    case nil: nil
    }
  }

  /// Subscriber's thread: fills a free place.
  @inline(__always)
  func fill(_ lease: consuming FrameLease) -> OpaquePointer? {
    self.lease = consume lease
    // Relaxed: the handle's stamp publishes both.
    state.store(State.held, ordering: .relaxed)
    return unsafe HandleTable.shared.activate(index, .lease)
  }

  /// The thread that ended the handle: releases the frame.
  @inline(__always)
  func empty() {
    lease = nil
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
struct LeaseLedger: ~Copyable {
  private var places: [LeaseBox] = []

  /// A free place, before a frame is received for it.
  @inline(__always)
  mutating func freePlace() throws(CFailure) -> LeaseBox {
    for place in places where place.isFree { return place }
    let place = try LeaseBox()
    places.append(place)
    return place
  }

  var heldCount: Int { places.count { !$0.isFree } }

  deinit { for place in places { place.orphan() } }
}
