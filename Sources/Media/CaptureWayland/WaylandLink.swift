#if Media
  import CWayland
  import FrameBus
  import Platform

  /// A compositor, and the output of it that is captured.
  struct WaylandLink {
    let compositor: Compositor
    private(set) var output: WaylandOutput
    private let options: WaylandOptions
    private let stop: StopSignal
    /// In logical coordinates; nil for all.
    private var area: PixelRect?
    private var knownChanges: UInt32

    init(_ options: WaylandOptions, stop: StopSignal) throws(WaylandError) {
      compositor = try Compositor(options.display, stop: stop)
      knownChanges = compositor.changes
      output = try compositor.output(named: options.output)
      area = if let region = options.region { try output.logicalArea(of: region) } else { nil }
      self.options = options
      self.stop = stop
    }

    /// How the picture lies in memory.
    var orientation: Orientation {
      let orientation = options.orientation ?? output.orientation
      return compositor.frame.isInverted ? orientation.withRowsReversed : orientation
    }

    /// Asks for the layout of the next frame, unless that was done.
    mutating func beginFrame() throws(WaylandError) {
      guard compositor.stage == WAYLAND_NONE else { return }
      if compositor.changes != knownChanges {
        knownChanges = compositor.changes
        output = try compositor.output(named: output.name)
        if let region = options.region { area = try output.logicalArea(of: region) }
      }
      guard compositor.beginFrame(of: output.id, drawsCursor: options.drawsCursor, area: area)
      else { throw .noSuchOutput(output.name, known: compositor.outputs.map(\.name.plain)) }
    }

    /// Waits for the layout of the next frame.
    /// - Returns: nil if the compositor cannot capture the output now.
    mutating func layout(until deadline: Deadline) throws(WaylandError) -> WaylandLayout? {
      try beginFrame()
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
    func cancelFrame() throws(WaylandError) {
      compositor.endFrame()
      guard try compositor.synchronize(stop: stop) else { throw .silent(path: compositor.path) }
    }
  }
#endif
