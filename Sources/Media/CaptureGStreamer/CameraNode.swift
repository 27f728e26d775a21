#if Media
  import CGStreamer
  import Capture
  import FrameBus
  import Platform

  /// A camera that PipeWire offers as a node: one that only libcamera can drive, or a program's.
  public struct CameraNode: Hashable, Sendable {
    /// PipeWire's number for it, which no other node gets.
    let serial: String
    /// Its name for programs, and for people. Of any content.
    public let name: String
    public let description: String
    /// The Video4Linux device that it stands for; nil if there is none.
    public let devicePath: String?
    public let modes: [Mode]

    public struct Mode: Hashable, Sendable {
      /// As `--format` takes it, such as `yuyv`.
      public let format: String
      /// GStreamer's name.
      let gstFormat: String
      public let widths: ClosedRange<Int>
      public let heights: ClosedRange<Int>
      /// The lowest and the highest rate; nil if unknown.
      public let rates: ClosedRange<Double>?
    }

    private static let maximumCount = 64
    private static let maximumTextCount = 256

    /// The nodes of this moment; none without a server, or without GStreamer's plugin for it.
    public static func all() throws(PipelineError) -> [CameraNode] {
      try startGStreamer()
      guard let list = unsafe fb_camera_nodes_new() else { return [] }
      // SAFETY: the list lives until the end of this function, and each text until the next node.
      defer { unsafe fb_camera_nodes_free(list) }
      var nodes: [CameraNode] = []
      while nodes.count < maximumCount, unsafe fb_camera_nodes_next(list) {
        func text(_ property: String) -> String? {
          unsafe fb_camera_nodes_text(list, property).map {
            String(unsafe String(cString: $0).prefix(maximumTextCount))
          }
        }
        guard let serial = text("object.serial"), let name = text("node.name") else { continue }
        var modes: [Mode] = []
        var mode = fb_node_mode()
        while modes.count < maximumCount,
          unsafe fb_camera_nodes_mode(list, UInt32(modes.count), &mode)
        {
          modes.append(Mode(mode))
        }
        nodes.append(
          CameraNode(
            serial: serial, name: name, description: text("node.description") ?? name,
            devicePath: text("api.v4l2.path"), modes: modes))
      }
      return nodes
    }

    /// The node of a name: the one that has it, or else one whose description begins so.
    /// - Parameter name: nil for the first one.
    static func find(_ name: String?) throws(PipelineError) -> CameraNode? {
      let nodes = try all()
      guard let name else { return nodes.first }
      let wanted = name.lowercased()
      return nodes.first { $0.name == name }
        ?? nodes.first { $0.description.lowercased().hasPrefix(wanted) }
    }
  }

  extension CameraNode.Mode {
    /// Names of formats that differ from GStreamer's in lower case: those of other cameras.
    private static let names = ["YUY2": "yuyv", "Y42B": "i422", "GRAY8": "grey"]

    fileprivate init(_ mode: fb_node_mode) {
      func range(_ least: Int32, _ most: Int32) -> ClosedRange<Int> {
        Int(max(0, least))...Int(max(0, least, most))
      }
      // SAFETY: the text is copied at once, and ends with a zero byte.
      let format = unsafe withUnsafeBytes(of: mode.format) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      gstFormat = format
      self.format = Self.names[format] ?? format.lowercased()
      widths = range(mode.width, mode.maximumWidth)
      heights = range(mode.height, mode.maximumHeight)
      func rate(_ numerator: Int32, _ denominator: Int32) -> Double? {
        numerator >= 0 && denominator > 0 ? Double(numerator) / Double(denominator) : nil
      }
      let bounds = [
        rate(mode.rate.0, mode.rate.1), rate(mode.maximumRate.0, mode.maximumRate.1),
      ].compactMap { $0 }.sorted()
      rates = bounds.count == 2 && bounds[1] > 0 ? bounds[0]...bounds[1] : nil
    }

    /// Whether it has what a capture asks for.
    func fits(_ settings: CaptureSettings) -> Bool {
      let size = settings.region
      let rate = settings.frameRate.map { Double($0.numerator) / Double($0.denominator) }
      return settings.pixelFormat.map { $0 == format } ?? true
        && size.map { widths.contains($0.width) && heights.contains($0.height) } ?? true
        && rate.map { rate in rates.map { $0.contains(rate) } ?? true } ?? true
    }

    /// As errors and lists show it.
    public var text: String {
      let size =
        widths.count == 1 && heights.count == 1
        ? "\(widths.lowerBound)x\(heights.lowerBound)"
        : "\(widths.lowerBound)x\(heights.lowerBound) to \(widths.upperBound)x\(heights.upperBound)"
      guard let rates else { return "\(format) \(size)" }
      let shown = Set([rates.lowerBound, rates.upperBound]).sorted().map(\.shortText)
      return "\(format) \(size) at \(shown.joined(separator: " to "))"
    }
  }

  extension Double {
    /// Such as `30` or `29.97`.
    fileprivate var shortText: String {
      let hundredths = (self * 100).rounded()
      return hundredths.truncatingRemainder(dividingBy: 100) == 0
        ? "\(Int(hundredths / 100))" : "\(hundredths / 100)"
    }
  }

  /// The pictures of a camera node.
  public struct NodeOrigin: PictureOrigin {
    private let settings: CaptureSettings
    private var name: String?

    /// - Parameter name: a node's name, or how its description begins; nil for the first one.
    public init(_ name: String?, _ settings: CaptureSettings) {
      self.name = name
      self.settings = settings
    }

    public var isPresent: Bool { (try? CameraNode.find(name)) != nil }

    public mutating func open() throws(OriginError) -> OpenOrigin {
      let found: CameraNode?
      do { found = try CameraNode.find(name) } catch { throw .failed("\(error)") }
      guard let node = found else {
        let shown = name.map { "there is no camera “\($0.plain)”" } ?? "there is no camera"
        throw .absent("\(shown): `framebus cameras` lists them")
      }
      // From now on this node alone, even if the capture named none.
      name = node.name
      guard settings.controls == nil else {
        throw .failed("--control: a camera of PipeWire has no controls; leave it out")
      }
      if !node.modes.isEmpty, !node.modes.contains(where: { $0.fits(settings) }) {
        let known = node.modes.prefix(12).map(\.text).joined(separator: ", ")
        throw .failed("\(node.name.plain) has no such mode: it has \(known)")
      }
      var caps = "video/x-raw"
      if let wanted = settings.pixelFormat,
        let mode = node.modes.first(where: { $0.format == wanted })
      {
        caps += ",format=\(mode.gstFormat)"
      }
      if let size = settings.region { caps += ",width=\(size.width),height=\(size.height)" }
      if let rate = settings.frameRate {
        caps += ",framerate=\(rate.numerator)/\(rate.denominator)"
      }
      // Without the stream's property, another camera could take the place of one that is gone.
      return OpenOrigin(
        elements: "pipewiresrc name=node do-timestamp=true "
          + "stream-properties=\"props,node.dont-reconnect=true\" ! \(caps)",
        texts: [("node", "target-object", node.serial)])
    }
  }
#endif
