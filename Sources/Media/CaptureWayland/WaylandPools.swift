#if Media
  import CWayland
  import FrameBus
  import Platform
  import Synchronization

  /// The memory that the compositor may write to: each pool of the publisher that it has mapped, by
  /// generation.
  ///
  /// Shared with the publisher's `poolWillSeal`, which attaches. A compositor that starts later
  /// cannot map a sealed pool, and needs a new one.
  final class WaylandPools: Sendable {
    private struct State {
      var compositor: Compositor?
      var pools: [UInt32: WaylandPool] = [:]
    }
    private let state: Mutex<State>
    private let stop: StopSignal

    init(_ compositor: Compositor, stop: StopSignal) {
      state = Mutex(State(compositor: compositor))
      self.stop = stop
    }

    /// Serves another compositor, or none. Pools of the one before are of no use.
    func begin(_ compositor: Compositor?) {
      state.withLock { $0 = State(compositor: compositor) }
    }

    /// Lets the compositor map a pool, and waits until it has: sealing the pool any earlier would
    /// make the mapping fail. What it does not map is missed by ``buffer(for:at:_:)``.
    func attach(_ pool: PoolDescriptor) {
      guard let compositor = state.withLock({ $0.compositor }),
        let size = Int32(exactly: pool.byteCount),
        let made = WaylandPool(compositor, pool.descriptorNumber, size, stop: stop)
      else { return }
      state.withLock { state in
        if state.compositor === compositor { state.pools[pool.generation] = made }
      }
    }

    /// The buffer of a slot. The publisher writes to one pool at a time, the newest that it has
    /// taken: earlier pools are only read from then on.
    /// - Returns: nil if the compositor has not mapped the pool.
    func buffer(for generation: UInt32, at offset: Int, _ layout: WaylandLayout) -> WaylandBuffer? {
      let pool = state.withLock { state in
        for former in state.pools.keys where former < generation { state.pools[former] = nil }
        return state.pools[generation]
      }
      return pool?.buffer(at: offset, layout)
    }
  }

  /// One pool of the publisher, as the compositor has it.
  @safe package final class WaylandPool: @unchecked Sendable {
    // because the capture's thread alone uses it, once another has made it

    private let compositor: Compositor
    /// SAFETY: lives until deinit, as the compositor does.
    private let pointer: OpaquePointer
    private let byteCount: Int32
    private var layout: WaylandLayout?
    private var buffers: [Int: WaylandBuffer] = [:]

    package init?(
      _ compositor: Compositor, _ descriptor: Int32, _ byteCount: Int32, stop: StopSignal
    ) {
      let deadline = Deadline.after(Compositor.answerLimit)
      // SAFETY: the compositor lives as long as self; the descriptor is only duplicated.
      guard
        let pointer = unsafe wayland_pool_create(
          compositor.pointer, descriptor, byteCount, stop.descriptorNumber, deadline.monotonicNs)
      else { return nil }
      self.compositor = compositor
      unsafe self.pointer = pointer
      self.byteCount = byteCount
    }

    package func buffer(at offset: Int, _ layout: WaylandLayout) -> WaylandBuffer? {
      if self.layout != layout {
        buffers = [:]
        self.layout = layout
      }
      if let buffer = buffers[offset] { return buffer }
      let format = layout.format
      precondition(offset + layout.stride * format.height <= byteCount, "slot at \(offset)")
      // SAFETY: the pool lives as long as self, which outlives its buffers.
      guard
        let made = unsafe wayland_buffer_create(
          pointer, Int32(offset), Int32(format.width), Int32(format.height), Int32(layout.stride),
          layout.code)
      else { return nil }
      let buffer = unsafe WaylandBuffer(made, compositor)
      buffers[offset] = buffer
      return buffer
    }

    deinit {
      buffers = [:]
      unsafe wayland_pool_destroy(pointer)
    }
  }

  /// A slot that the compositor can write to.
  @safe package final class WaylandBuffer {
    private let compositor: Compositor
    /// SAFETY: lives until deinit, as the compositor does.
    private let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer, _ compositor: Compositor) {
      unsafe self.pointer = pointer
      self.compositor = compositor
    }

    /// Asks for the pixels of the frame that has begun.
    package func fill(waitsForDamage: Bool) {
      // SAFETY: both live as long as self.
      unsafe wayland_frame_copy(compositor.pointer, pointer, waitsForDamage)
    }

    deinit { unsafe wayland_buffer_destroy(pointer) }
  }
#endif
