import Capture
import FrameBus

/// What a capture asks of a camera, and what it takes of that which the camera offers.
struct CameraChoice: Hashable {
  var encoding: CameraEncoding
  var width: Int
  var height: Int
  /// Nil leaves it to the driver.
  var rate: FrameRate?

  /// The size of pictures if none is asked for, at most.
  private static let usualSize = (width: 1280, height: 720)
  /// A camera that delivers fewer frames a second is taken only for a size that was asked for.
  private static let leastRate = 24.0
  private static let usualRate = FrameRate(30)

  /// Chooses a mode: of the wanted format, size and rate, and else one that is quick enough before
  /// one that needs no decoder before a larger one.
  /// - Parameter modes: what the camera offers; if empty, it is asked for what is wanted.
  init(
    _ settings: CaptureSettings, of modes: [CameraMode], path: String
  ) throws(CameraError) {
    let size = settings.region
    if let size, size.x != 0 || size.y != 0 {
      throw .noMode(
        path: path, asked: "part of its pictures (--size with an offset)",
        known: modes.prefix(12).map(\.text))
    }
    let fitting = modes.filter { mode in
      let hasSize = size.map { mode.widths.contains($0.width) && mode.heights.contains($0.height) }
      return (settings.pixelFormat.map { $0 == mode.encoding.name } ?? true) && hasSize ?? true
        && (settings.frameRate.map(mode.offers) ?? true)
    }
    if modes.isEmpty {
      let named = CameraEncoding.all.first { $0.name == settings.pixelFormat ?? "yuyv" }
      guard let named else { throw .noMode(path: path, asked: Self.asked(settings), known: []) }
      encoding = named
      (width, height) = (size?.width ?? 640, size?.height ?? 480)
      rate = settings.frameRate
      return
    }
    let choices = fitting.map { CameraChoice($0, size, settings.frameRate) }
    guard let best = choices.max(by: { $0.isWorse(than: $1) }) else {
      throw .noMode(
        path: path, asked: Self.asked(settings), known: modes.prefix(12).map(\.text))
    }
    self = best
  }

  private init(_ mode: CameraMode, _ size: PixelRect?, _ rate: FrameRate?) {
    encoding = mode.encoding
    width = size?.width ?? mode.widths.nearest(Self.usualSize.width)
    height = size?.height ?? mode.heights.nearest(Self.usualSize.height)
    self.rate = rate ?? Self.rate(of: mode)
  }

  /// The highest rate up to the usual one, else the lowest.
  private static func rate(of mode: CameraMode) -> FrameRate? {
    if mode.isRateRange, mode.offers(usualRate) { return mode.rates.isEmpty ? nil : usualRate }
    let sorted = mode.rates.sorted { $0.perSecond < $1.perSecond }
    return sorted.last { $0.perSecond < usualRate.perSecond + 0.01 } ?? sorted.first
  }

  private func isWorse(than other: CameraChoice) -> Bool {
    merits.lexicographicallyPrecedes(other.merits)
  }

  private var merits: [Int] {
    let isQuick = rate.map { $0.perSecond >= Self.leastRate } ?? true
    let area = width * height
    let isTooLarge = area > Self.usualSize.width * Self.usualSize.height
    return [
      isQuick ? 1 : 0, encoding.isEncoded ? 0 : 1, isTooLarge ? -area : area, -encoding.rank,
    ]
  }

  private static func asked(_ settings: CaptureSettings) -> String {
    let parts = [
      settings.pixelFormat.map { "--format \($0)" },
      settings.region.map { "--size \($0.width)x\($0.height)" },
      settings.frameRate.map { "--fps \($0.shortText)" },
    ].compactMap { $0 }
    return parts.isEmpty ? "format that can be captured" : parts.joined(separator: " ")
  }
}
