#if Media
  import Capture
  import FrameBus
  import Platform

  /// The screen or window to capture, the region, and the method.
  public struct ScreenOptions: Hashable, Sendable {
    /// Nil for the display that `DISPLAY` names.
    public var display: String?
    /// The X ID of a window to capture alone; nil for the whole screen.
    public var window: UInt32?
    /// The maximum rate; an unchanged screen publishes nothing.
    public var rate = FrameRate(30, 1)
    /// Nil for the whole picture. A region is clipped to the picture.
    public var region: PixelRect?
    public var backend = ScreenBackend.automatic
    public var drawsCursor = true
    /// The windows that no frame shows; nil to show all. With a rule, the pixels pass through
    /// memory that no subscriber can read, whatever the backend.
    public var protection: ProtectionRule?
    /// Whether the group's setting `protectedWindows` names further windows, as it is at each
    /// moment of the capture.
    public var followsSetting = true
    /// The picture's orientation in the metadata.
    public var orientation = Orientation.up
    /// What to do about the screen saver.
    public var whileSaver = SaverPolicy.pause
    /// Whether an inhibited saver stays off while nobody subscribes, until the capture ends.
    package var staysAwake = false
    /// Whether to capture an X server that belongs to a Wayland session.
    public var allowsWayland = false

    public init() {}

    /// - Parameters:
    ///   - settings: how to capture; what is nil there has its default.
    ///   - display: nil for the display that `DISPLAY` names.
    ///   - window: the X ID of a window to capture alone.
    public init(_ settings: CaptureSettings, display: String? = nil, window: UInt32? = nil) {
      self.display = display
      self.window = window
      rate = settings.frameRate ?? rate
      region = settings.region
      drawsCursor = settings.drawsCursor ?? drawsCursor
      orientation = settings.orientation ?? orientation
      whileSaver = settings.whileSaver ?? whileSaver
      allowsWayland = settings.allowsWayland ?? allowsWayland
      switch settings.protection {
      case .on(let rules)?: protection = ProtectionRule(rules)
      case .off?: followsSetting = false
      case nil: break
      }
      let named = settings.backend.flatMap { ScreenBackend(rawValue: $0.rawValue) }
      backend = settings.isIsolated == true ? .isolated : named ?? backend
    }
  }

  /// Publishes the screen of an X11 display, or one of its windows. Idle while there are no
  /// subscribers.
  public struct ScreenSource: FrameSource {
    private let options: ScreenOptions

    public init(_ options: ScreenOptions = ScreenOptions()) { self.options = options }

    public mutating func run(in session: CaptureSession) throws(ScreenError) {
      guard let screen = try Self.connect(options, session) else { return }
      // Whatever is waited for then ends.
      let ended = try Self.atDeadline(of: session) { screen.cut() }
      defer { ended?.raise() }
      let result = session.stop.observed(by: { screen.cut() }) {
        Result { () throws(ScreenError) in
          try Self.unlessOver(session) { () throws(ScreenError) in
            try capture(screen, in: session)
          }
        }
      }
      try result.get()
    }

    /// Does something once the run's time is over.
    /// - Returns: what cancels it when it is raised; nil if the run has no deadline.
    private static func atDeadline(
      of session: CaptureSession, _ body: @escaping @Sendable () -> Void
    ) throws(ScreenError) -> StopSignal? {
      let deadline = session.deadline
      if deadline == .never { return nil }
      do {
        let cancelled = try StopSignal()
        try startThread(named: "x11 deadline") {
          _ = try? firstReadable(cancelled.descriptorNumber, until: deadline)
          if deadline.isPast { body() }
        }
        return cancelled
      } catch { throw .system(error) }
    }

    /// Leaves out errors of a run that is over, whose connection was cut.
    private static func unlessOver(
      _ session: CaptureSession, _ body: () throws(ScreenError) -> Void
    ) throws(ScreenError) {
      do { try body() } catch {
        if !session.isOver { throw error }
      }
    }

    /// How long a server may take to say what it can.
    private static let answerLimit = Duration.seconds(10)

    /// Connects on a thread of its own, as libxcb waits for a server's first answer without end.
    /// - Returns: nil if the run is over.
    private static func connect(
      _ options: ScreenOptions, _ session: CaptureSession
    ) throws(ScreenError) -> RootScreen? {
      let connecting = Connecting<RootScreen>()
      do {
        try startThread(named: "x11 connect") {
          connecting.finish(
            Result { () throws(ScreenError) in
              try RootScreen(options, until: session.deadline)
            })
        }
      } catch { throw .system(error) }
      let limit = min(session.deadline, .after(answerLimit))
      if let result = connecting.wait(until: limit, stop: session.stop) { return try result.get() }
      if session.isOver { return nil }
      throw .silent(display: options.display ?? environmentValue("DISPLAY") ?? "")
    }

    private mutating func capture(
      _ screen: RootScreen, in session: CaptureSession
    ) throws(ScreenError) {
      let target = try CaptureTarget(options.window, on: screen)
      guard let area = try Self.area(of: target, options) else {
        throw .noSuchWindow(target.window.id, display: screen.connection.display)
      }
      if screen.backend == .socket, options.backend == .automatic {
        session.noticed?(
          "the X server cannot map this process's memory: frames come over its socket, which takes "
            + "more processor time")
      }
      let format = try Self.format(of: area, options)
      // Before the stream exists: an error of the setting is one of the start.
      let rules: FollowedProtection
      do throws(ProtectionSettingError) {
        rules = try FollowedProtection(options, in: session)
      } catch { throw .protection(error) }
      let pools = SharedPools(screen.poolConnection ?? screen.connection)
      var publisherOptions = PublisherOptions()
      publisherOptions.content = options.window == nil ? .screen : .window
      publisherOptions.streamChanged = session.streamChanged
      if screen.backend == .shm {
        publisherOptions.poolWillSeal = { pool in try pools.attach(pool) }
      }
      let publisher: Publisher
      do {
        publisher = try Publisher(
          session.stream, in: session.group, format: format, options: publisherOptions)
      } catch { throw .publishing(.publisher(error)) }
      let options = options
      try session.drive(publisher) { (publisher) throws(ScreenError) in
        var capture = try ScreenCapture(
          of: target, area: area, pools: pools, options: options, rules: rules, session: session)
        // Here, so that subscribers do not take it for a failure.
        try Self.unlessOver(session) { () throws(ScreenError) in try capture.run(&publisher) }
      }
    }

    /// The captured part of the target as it is now; nil if it is gone.
    static func area(
      of target: CaptureTarget, _ options: ScreenOptions
    ) throws(ScreenError) -> PixelRect? {
      guard let size = try target.size() else { return nil }
      guard let region = options.region else {
        return PixelRect(x: 0, y: 0, width: size.width, height: size.height)
      }
      guard region.x < size.width, region.y < size.height else {
        throw .regionOutside(
          region: "\(region.width)x\(region.height)+\(region.x)+\(region.y)",
          picture: "\(size.width)x\(size.height)")
      }
      return PixelRect(
        x: region.x, y: region.y, width: min(region.width, size.width - region.x),
        height: min(region.height, size.height - region.y))
    }

    /// Rows as the X server writes them: 32-bit pixels without padding.
    static func format(
      of area: PixelRect, _ options: ScreenOptions
    ) throws(ScreenError) -> FrameFormat {
      do {
        return try FrameFormat(
          kind: .video, fourcc: .xrgb8888, width: area.width, height: area.height,
          planes: [Plane(offset: 0, stride: area.width * 4)],
          byteCount: area.width * area.height * 4, frameRate: options.rate, colorSpace: .sRGB)
      } catch { throw .publishing(.format(error)) }
    }
  }
#endif
