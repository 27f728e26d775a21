#if Media
  import Capture
  import FrameBus
  import Platform

  /// What to capture of a compositor.
  public enum WaylandTarget: Hashable, Sendable {
    /// Nil for the first output.
    case output(String?)
    /// A window, by the compositor's identifier.
    case window(String)
  }

  /// The output or window to capture, and how.
  public struct WaylandOptions: Hashable, Sendable {
    /// The compositor's socket; nil for the one that `WAYLAND_DISPLAY` names.
    public var display: String?
    public var target: WaylandTarget
    /// The maximum rate; an unchanged picture publishes nothing.
    public var rate = FrameRate(30, 1)
    /// Of an output, in pixels of the upright picture; nil for all. A region is clipped to it.
    public var region: PixelRect?
    public var drawsCursor = true
    /// The picture's orientation in the metadata; nil for what the compositor says.
    public var orientation: Orientation?

    /// - Parameter settings: how to capture; what is nil there has its default.
    public init(_ settings: CaptureSettings, of target: WaylandTarget = .output(nil)) {
      self.target = target
      rate = settings.frameRate ?? rate
      region = settings.region
      drawsCursor = settings.drawsCursor ?? drawsCursor
      orientation = settings.orientation
    }
  }

  /// Publishes an output or window of a Wayland compositor. Idle while there are no subscribers.
  public struct WaylandSource: FrameSource {
    private let options: WaylandOptions

    public init(_ options: WaylandOptions) { self.options = options }

    public mutating func run(in session: CaptureSession) throws(WaylandError) {
      do throws(WaylandError) { try capture(in: session) } catch {
        // What waits for the compositor ends with an error where the run is over.
        if !session.isOver { throw error }
      }
    }

    private func capture(in session: CaptureSession) throws(WaylandError) {
      var link = try WaylandLink(options, stop: session.stop)
      let deadline = min(session.deadline, .after(Compositor.answerLimit))
      guard let layout = try link.layout(isOwed: true, until: deadline) else {
        throw .unavailable(output: link.output?.name.plain)
      }
      if options.target == .output(nil), link.compositor.outputs.count > 1 {
        session.noticed?(
          "captures the output \(link.output?.name.plain ?? ""); name another as wayland:OUTPUT, "
            + "as `framebus screens` lists them")
      }
      let pools = WaylandPools(link.compositor, stop: session.stop)
      var publisherOptions = PublisherOptions()
      publisherOptions.content = link.output == nil ? .window : .screen
      publisherOptions.streamChanged = session.streamChanged
      publisherOptions.poolWillSeal = { pool in pools.attach(pool) }
      let publisher: Publisher
      do {
        publisher = try Publisher(
          session.stream, in: session.group, format: layout.format, options: publisherOptions)
      } catch { throw .publishing(.publisher(error)) }
      let options = options
      var first: WaylandLink? = consume link
      try session.drive(publisher) { (publisher) throws(WaylandError) in
        // Kept nowhere else: the connection is closed before there is another.
        var capture = WaylandCapture(first.take(), pools: pools, options: options, session: session)
        do throws(WaylandError) { try capture.run(&publisher) } catch {
          // Here, so that subscribers do not take it for a failure.
          if !session.isOver { throw error }
        }
      }
    }
  }
#endif
