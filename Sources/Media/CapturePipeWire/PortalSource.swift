#if Media
  import CPipeWire
  import Capture
  import FrameBus
  import Platform

  /// What to capture of a desktop, and how.
  public struct PortalOptions: Sendable {
    public var picture: PortalPicture
    /// The maximum rate; an unchanged picture is published once.
    public var rate = FrameRate(30)
    public var drawsCursor = true
    /// What another process has been granted; nil to ask the portal.
    public var grant: Grant?

    /// A node, and the inherited descriptor of a connection to PipeWire that sees it. Without a
    /// descriptor, the node is one of the user's server.
    public struct Grant: Hashable, Sendable {
      public let node: UInt32
      public let descriptor: Int32?

      /// - Parameter text: such as `45:3`, or `45`.
      public init?(_ text: String) {
        let parts = text.split(separator: ":")
        guard let node = parts.first.flatMap({ UInt32($0) }), parts.count <= 2 else { return nil }
        self.node = node
        descriptor = parts.count == 2 ? Int32(parts[1]) : nil
        if parts.count == 2, descriptor.map({ $0 >= 3 }) != true { return nil }
      }
    }

    public init(_ picture: PortalPicture) { self.picture = picture }

    /// - Parameter settings: what is nil there has its default.
    public init(_ picture: PortalPicture, _ settings: CaptureSettings) {
      self.init(picture)
      rate = settings.frameRate ?? rate
      drawsCursor = settings.drawsCursor ?? drawsCursor
    }
  }

  /// Publishes what the user of a desktop chose in its portal's dialog. The producer rests while
  /// there are no subscribers.
  public struct PortalSource: FrameSource {
    private let options: PortalOptions

    public init(_ options: PortalOptions) { self.options = options }

    public mutating func run(in session: CaptureSession) throws(PortalError) {
      guard let link = try PortalLink.open(options, in: session) else { return }
      guard let layout = try link.firstFormat(in: session) else { return }
      let area = PixelRect(x: 0, y: 0, width: Int(layout.width), height: Int(layout.height))
      let format = try Self.format(layout, of: area, at: options.rate)
      var publisherOptions = PublisherOptions()
      publisherOptions.content = options.picture == .window ? .window : .screen
      publisherOptions.streamChanged = session.streamChanged
      let publisher: Publisher
      do {
        publisher = try Publisher(
          session.stream, in: session.group, format: format, options: publisherOptions)
      } catch { throw .publishing(.publisher(error)) }
      var run = PortalRun(link, layout, options: options, session: session)
      try session.drive(publisher) { (publisher) throws(PortalError) in
        try run.publishAll(with: &publisher)
      }
    }

    /// Rows one after another, of 32-bit pixels.
    static func format(
      _ layout: fb_pipewire_format, of area: PixelRect, at rate: FrameRate
    ) throws(PortalError) -> FrameFormat {
      do {
        return try FrameFormat(
          kind: .video, fourcc: FourCC(rawValue: layout.fourcc), width: area.width,
          height: area.height, planes: [Plane(offset: 0, stride: area.width * 4)],
          byteCount: area.width * area.height * 4, frameRate: rate, colorSpace: .sRGB)
      } catch { throw .publishing(.format(error)) }
    }
  }
#endif
