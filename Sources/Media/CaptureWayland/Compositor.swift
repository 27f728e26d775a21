#if Media
  import CWayland
  import Capture
  import FrameBus
  import Platform

  /// A connection to a Wayland compositor, closed when its owner goes.
  ///
  /// The compositor may be anything: what it sends is checked, and every wait has a deadline.
  @safe package final class Compositor: @unchecked Sendable {
    // because libwayland locks around every call, and all state besides belongs to the thread that
    // captures; other threads only make pools, with events of their own

    /// SAFETY: open until deinit; users keep this object alive across calls with it.
    @unsafe let pointer: OpaquePointer
    /// The path of its socket, for messages.
    let path: String

    /// How long it may take to answer what it can answer at once.
    static let answerLimit = Duration.seconds(10)

    /// - Parameters:
    ///   - name: nil for what `WAYLAND_DISPLAY` says.
    ///   - stop: ends the wait for its answer, which is then an error.
    convenience init(_ name: String?, stop: StopSignal?) throws(WaylandError) {
      guard let path = WaylandSocket.path(name) else { throw .noDisplayNamed }
      let socket: Descriptor
      do { socket = try connectStream(to: path) } catch { throw .unreachable(path: path, error) }
      try self.init(socket, path: path, stop: stop)
    }

    /// - Parameter socket: connected to the compositor.
    package init(
      _ socket: consuming Descriptor, path: String, stop: StopSignal?
    ) throws(WaylandError) {
      // SAFETY: the client owns the socket from here on.
      guard let pointer = unsafe wayland_client_create(socket.release()) else {
        throw .system(SystemError(code: 12, operation: "wl_display_connect_to_fd"))
      }
      unsafe self.pointer = pointer
      self.path = path
      // What there is; what each of it is like; what the answers to that led to.
      for _ in 0..<3 {
        guard try synchronize(stop: stop) else { throw .silent(path: path) }
      }
    }

    deinit { unsafe wayland_client_destroy(pointer) }

    // MARK: Waiting

    /// Handles what has arrived, or waits for it.
    package func wait(until deadline: Deadline, stop: StopSignal?) throws(WaylandError) {
      let stop = stop?.descriptorNumber ?? -1
      if unsafe wayland_client_wait(pointer, stop, deadline.monotonicNs) < 0 { throw failure }
    }

    /// Waits until the compositor has handled all that it was asked.
    /// - Returns: false if it did not answer in time, or the signal was raised.
    func synchronize(stop: StopSignal?) throws(WaylandError) -> Bool {
      let deadline = Deadline.after(Self.answerLimit)
      guard unsafe wayland_client_synchronize(pointer) else { throw failure }
      while unsafe !wayland_client_isSynchronized(pointer) {
        if deadline.isPast || stop?.isRaised == true { return false }
        try wait(until: deadline, stop: stop)
      }
      return true
    }

    private var failure: WaylandError {
      // SAFETY: the call writes a terminated string within the count.
      let why = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
        unsafe wayland_client_failure(pointer, text.baseAddress, text.count)
        return unsafe String(cString: text.baseAddress!)
      }
      return .gone(path: path, why: why)
    }

    // MARK: Outputs

    /// Its outputs, from the upper left.
    package var outputs: [WaylandOutput] {
      // SAFETY: the call initialises as many as it returns, at most the capacity.
      unsafe withUnsafeTemporaryAllocation(
        of: wayland_output.self, capacity: Int(WAYLAND_MAXIMUM_OUTPUTS)
      ) { list in
        let count = unsafe wayland_client_outputs(pointer, list.baseAddress)
        return (0..<Int(count)).map { unsafe WaylandOutput(list[$0]) }
          .sorted { ($0.y, $0.x, $0.name) < ($1.y, $1.x, $1.name) }
      }
    }

    /// Counts changes of outputs.
    var changes: UInt32 { unsafe wayland_client_changes(pointer) }

    /// - Parameter name: nil for the first.
    func output(named name: String?) throws(WaylandError) -> WaylandOutput {
      let outputs = outputs
      guard let name else {
        guard let first = outputs.first else { throw .noOutput(path: path) }
        return first
      }
      guard let output = outputs.first(where: { $0.name == name }) else {
        throw .noSuchOutput(name, known: outputs.map(\.name.plain))
      }
      return output
    }

    // MARK: Windows

    /// Its windows; nil if it does not list them.
    package var windows: [WaylandWindow]? {
      guard unsafe wayland_client_listsWindows(pointer) else { return nil }
      // SAFETY: the call initialises as many as it returns, at most the capacity.
      return unsafe withUnsafeTemporaryAllocation(
        of: wayland_window.self, capacity: Int(WAYLAND_MAXIMUM_WINDOWS)
      ) { list in
        let count = unsafe wayland_client_windows(pointer, list.baseAddress)
        return (0..<Int(count)).map { unsafe WaylandWindow(list[$0]) }
      }
    }

    func hasWindow(_ number: UInt32) -> Bool { unsafe wayland_client_hasWindow(pointer, number) }

    // MARK: Frames

    /// Throws if the compositor lacks a protocol to capture a target.
    func check(_ target: wayland_target) throws(WaylandError) {
      // SAFETY: the target is read during the call only; the name is a constant.
      let missing = unsafe withUnsafePointer(to: target) {
        unsafe wayland_client_missing(pointer, $0).map { unsafe String(cString: $0) }
      }
      if let missing { throw .missingProtocol(missing, path: path) }
    }

    /// Asks for the layout of a frame.
    /// - Returns: false if the output or window is gone.
    func beginFrame(of target: wayland_target) -> Bool {
      // SAFETY: the target is read during the call only.
      unsafe withUnsafePointer(to: target) { unsafe wayland_frame_begin(pointer, $0) }
    }

    /// Whether the next frame comes with a change only, until ``rest()``.
    var waitsForDamage: Bool { unsafe wayland_client_waitsForDamage(pointer) }

    package func endFrame() { unsafe wayland_frame_end(pointer) }

    /// Ends whatever the compositor does for the capture.
    package func rest() { unsafe wayland_client_rest(pointer) }

    package var stage: wayland_stage { unsafe wayland_client_frame(pointer).pointee.stage }

    /// SAFETY: the frame lies in the client, and is copied.
    package var frame: wayland_frame { unsafe wayland_client_frame(pointer).pointee }
  }
#endif
