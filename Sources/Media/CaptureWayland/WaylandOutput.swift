#if Media
  import CWayland
  import Capture
  import FrameBus

  /// A monitor of a compositor, or what stands for one.
  public struct WaylandOutput: Hashable, Sendable {
    let id: UInt32
    /// As `wayland:OUTPUT` takes it, such as `DP-1`. Untrusted text.
    public let name: String
    /// For people. Untrusted text.
    public let details: String
    /// In the compositor's coordinates.
    public let x: Int
    public let y: Int
    /// In pixels, upright.
    public let width: Int
    public let height: Int
    public let refreshHz: Double?
    /// How its pictures lie in memory.
    let orientation: Orientation
    /// Its size as windows see it.
    private let logicalWidth: Int
    private let logicalHeight: Int

    init(_ output: wayland_output) {
      id = output.id
      let given = text(of: output.name)
      name = given.isEmpty ? "output-\(id)" : given
      details = text(of: output.description)
      (x, y) = (Int(output.x), Int(output.y))
      orientation = Orientation(transform: output.transform)
      // What no picture has, no region is cut from.
      let sides = [output.width, output.height].map {
        min(max(Int($0), 1), FrameFormat.maximumSide)
      }
      (width, height) = orientation.swapsSides ? (sides[1], sides[0]) : (sides[0], sides[1])
      refreshHz = output.refreshMilliHz > 0 ? Double(output.refreshMilliHz) / 1000 : nil
      let scale = min(max(Int(output.scale), 1), 16)
      logicalWidth = output.logicalWidth > 0 ? Int(output.logicalWidth) : width / scale
      logicalHeight = output.logicalHeight > 0 ? Int(output.logicalHeight) : height / scale
    }

    /// Those of the compositor that `WAYLAND_DISPLAY` names, from the upper left.
    public static func all() throws(WaylandError) -> [WaylandOutput] {
      let compositor = try Compositor(nil, stop: nil)
      try compositor.check(wayland_target())
      return compositor.outputs
    }

    /// The logical coordinates of a region of upright pixels: all that it touches.
    func logicalArea(of region: PixelRect) throws(WaylandError) -> PixelRect {
      guard region.x < width, region.y < height else {
        throw .regionOutside(
          region: "\(region.width)x\(region.height)+\(region.x)+\(region.y)",
          picture: "\(width)x\(height)")
      }
      let region = region.intersection(PixelRect(x: 0, y: 0, width: width, height: height))
      let columns = Self.scaled(region.x, region.width, by: logicalWidth, of: width)
      let rows = Self.scaled(region.y, region.height, by: logicalHeight, of: height)
      return PixelRect(
        x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
    }

    private static func scaled(
      _ start: Int, _ count: Int, by numerator: Int, of denominator: Int
    ) -> Range<Int> {
      let first = start * numerator / denominator
      let end = ((start + count) * numerator + denominator - 1) / denominator
      return first..<max(end, first + 1)
    }
  }

  extension Orientation {
    /// The same with the rows in memory in reverse.
    var withRowsReversed: Orientation {
      switch self {
      case .up: .downMirrored
      case .upMirrored: .down
      case .down: .upMirrored
      case .downMirrored: .up
      case .leftMirrored: .right
      case .right: .leftMirrored
      case .rightMirrored: .left
      case .left: .rightMirrored
      }
    }
  }

  /// The text of a field of fixed size, which ends with a null byte.
  func text<Field>(of field: Field) -> String {
    // SAFETY: the bytes are read during the call only.
    unsafe withUnsafeBytes(of: field) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
#endif
