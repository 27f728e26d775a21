#if Media
  import CWayland
  import FrameBus
  import Platform

  /// A compositor, and the output or window of it that is captured.
  package struct WaylandLink {
    let compositor: Compositor
    /// Nil for a window.
    private(set) var output: WaylandOutput?
    private var target: wayland_target
    private let options: WaylandOptions
    private let stop: StopSignal
    private var knownChanges: UInt32

    init(_ options: WaylandOptions, stop: StopSignal) throws(WaylandError) {
      try self.init(Compositor(options.display, stop: stop), options, stop: stop)
    }

    package init(
      _ compositor: Compositor, _ options: WaylandOptions, stop: StopSignal
    ) throws(WaylandError) {
      self.compositor = compositor
      knownChanges = compositor.changes
      target = wayland_target()
      target.drawsCursor = options.drawsCursor
      self.options = options
      self.stop = stop
      switch options.target {
      case .output(let name): try follow(compositor.output(named: name))
      case .window(let id):
        target.isWindow = true
        try compositor.check(target)
        guard let window = compositor.windows?.first(where: { $0.id == id }) else {
          throw .noSuchWindow(id)
        }
        target.id = window.number
      }
      try compositor.check(target)
    }

    private mutating func follow(_ output: WaylandOutput) throws(WaylandError) {
      self.output = output
      target.id = output.id
      guard let region = options.region else { return }
      // wlroots 0.15 cuts a region of such an output elsewhere.
      if [.left, .right].contains(output.orientation) { throw .turnedRegion(output.name.plain) }
      let area = try output.logicalArea(of: region)
      target.area = wayland_area(
        x: UInt32(area.x), y: UInt32(area.y), width: UInt32(area.width),
        height: UInt32(area.height))
    }

    /// How often new pictures can come; of a window, on any output.
    var refreshHz: Double {
      if let output { return output.refreshHz ?? 60 }
      return compositor.outputs.compactMap(\.refreshHz).max() ?? 60
    }

    /// How the picture lies in memory.
    package var orientation: Orientation {
      let frame = compositor.frame
      let inMemory =
        frame.transform < 0
        ? output?.orientation ?? .up : Orientation(transform: frame.transform)
      let orientation = options.orientation ?? inMemory
      return frame.isInverted ? orientation.withRowsReversed : orientation
    }

    /// Whether the output may have another size or orientation than that of the frame asked for.
    var hasChanged: Bool { output != nil && compositor.changes != knownChanges }

    /// Asks for the layout of the next frame, unless that was done.
    /// - Parameter isOwed: whether the frame is needed even if nothing changes.
    mutating func beginFrame(isOwed: Bool) throws(WaylandError) {
      if isOwed, compositor.waitsForDamage { compositor.rest() }
      guard compositor.stage == WAYLAND_NONE else { return }
      if compositor.changes != knownChanges, let output {
        knownChanges = compositor.changes
        try follow(compositor.output(named: output.name))
      }
      if compositor.beginFrame(of: target) { return }
      guard let output else { throw .windowClosed }
      throw .noSuchOutput(output.name, known: compositor.outputs.map(\.name.plain))
    }

    /// Waits for the layout of the next frame.
    /// - Returns: nil if the compositor cannot capture the output now.
    package mutating func layout(
      isOwed: Bool, until deadline: Deadline
    ) throws(WaylandError) -> WaylandLayout? {
      try beginFrame(isOwed: isOwed)
      while compositor.stage == WAYLAND_ASKED {
        if deadline.isPast || stop.isRaised { throw .silent(path: compositor.path) }
        try compositor.wait(until: deadline, stop: stop)
      }
      if compositor.stage == WAYLAND_OFFERED {
        return try WaylandLayout(compositor.frame, rate: options.rate)
      }
      compositor.endFrame()
      return nil
    }

    /// Ends the frame, and waits until the compositor surely writes no more of it.
    package func cancelFrame() throws(WaylandError) {
      compositor.endFrame()
      guard try compositor.synchronize(stop: stop) else { throw .silent(path: compositor.path) }
    }
  }
#endif
