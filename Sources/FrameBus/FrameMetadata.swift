import CFrameLayout
import Platform

/// A rectangle of pixels.
public struct PixelRect: Hashable, Sendable {
  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Four 16-bit numbers, x lowest; what exceeds them is cut off.
  var packed: UInt64 {
    [height, width, y, x].reduce(0) { $0 << 16 | UInt64(UInt16(clamping: $1)) }
  }

  init(packed: UInt64) {
    func part(_ index: Int) -> Int { Int(packed >> (16 * index) & 0xffff) }
    self.init(x: part(0), y: part(1), width: part(2), height: part(3))
  }
}

/// What changed since the frame before: up to four rectangles, or everything.
public struct DamageRegion: Hashable, Sendable {
  private var words: (UInt64, UInt64, UInt64, UInt64)
  private var count: UInt16

  public static let full = DamageRegion(count: UInt16(FB_DAMAGE_FULL))

  private init(count: UInt16) {
    words = (0, 0, 0, 0)
    self.count = count
  }

  /// More than four rectangles become their bounding box; none means that nothing changed.
  public init(_ rects: [PixelRect]) {
    self.init(count: UInt16(min(rects.count, Int(FB_MAXIMUM_DAMAGE))))
    if rects.count > Int(FB_MAXIMUM_DAMAGE) {
      let left = rects.map(\.x).min() ?? 0
      let top = rects.map(\.y).min() ?? 0
      let right = rects.map { $0.x + $0.width }.max() ?? 0
      let bottom = rects.map { $0.y + $0.height }.max() ?? 0
      self = DamageRegion([PixelRect(x: left, y: top, width: right - left, height: bottom - top)])
      return
    }
    func word(_ index: Int) -> UInt64 { index < rects.count ? rects[index].packed : 0 }
    words = (word(0), word(1), word(2), word(3))
  }

  public var isFull: Bool { count == UInt16(FB_DAMAGE_FULL) }

  /// The rectangles; none when the region is full.
  public var rects: [PixelRect] {
    let all = [words.0, words.1, words.2, words.3]
    return isFull ? [] : all.prefix(Int(count)).map(PixelRect.init(packed:))
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.words == right.words && left.count == right.count
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    hasher.combine(words.0)
  }

  func store(into descriptor: inout fb_descriptor) {
    descriptor.damage_count = count
    descriptor.damage = words
  }

  init(_ descriptor: fb_descriptor) {
    words = descriptor.damage
    let claimed = descriptor.damage_count
    count = claimed <= UInt16(FB_MAXIMUM_DAMAGE) ? claimed : UInt16(FB_DAMAGE_FULL)
  }
}

public struct FrameFlags: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let keyFrame = FrameFlags(rawValue: 1 << 0)
  /// Time or content jumps before this frame.
  public static let discontinuity = FrameFlags(rawValue: 1 << 1)
  public static let silence = FrameFlags(rawValue: 1 << 2)
  public static let protected = FrameFlags(rawValue: 1 << 3)
  /// The same picture as the frame before.
  public static let repeated = FrameFlags(rawValue: 1 << 4)
}

/// What travels beside a frame's bytes.
public struct FrameMetadata: Hashable, Sendable {
  /// When the frame is to be shown, in nanoseconds of the stream's clock; for live sources
  /// `CLOCK_MONOTONIC`. Unchanged from capture to upload.
  public var ptsNs: Int64
  /// 0 where it is not known.
  public var durationNs: UInt64 = 0
  /// When the source had the frame, `CLOCK_MONOTONIC`.
  public var capturedAtNs: UInt64
  public var flags: FrameFlags = []
  /// 1…8 as in TIFF and EXIF; 1 is upright.
  public var orientation: UInt8 = 1
  public var crop: PixelRect?
  public var damage = DamageRegion.full

  public init(ptsNs: Int64, capturedAtNs: UInt64) {
    self.ptsNs = ptsNs
    self.capturedAtNs = capturedAtNs
  }

  /// A frame captured and due now.
  public static func now() -> FrameMetadata { now(monotonicNowNs()) }

  static func now(_ nowNs: UInt64) -> FrameMetadata {
    FrameMetadata(ptsNs: Int64(nowNs), capturedAtNs: nowNs)
  }

  func store(into descriptor: inout fb_descriptor) {
    descriptor.pts_ns = ptsNs
    descriptor.duration_ns = durationNs
    descriptor.captured_at_ns = capturedAtNs
    descriptor.flags = flags.rawValue
    descriptor.orientation = UInt16(orientation)
    descriptor.crop = crop?.packed ?? 0
    damage.store(into: &descriptor)
  }

  package init(_ descriptor: fb_descriptor) {
    ptsNs = descriptor.pts_ns
    durationNs = descriptor.duration_ns
    capturedAtNs = descriptor.captured_at_ns
    flags = FrameFlags(rawValue: descriptor.flags)
    orientation = (1...8).contains(descriptor.orientation) ? UInt8(descriptor.orientation) : 1
    crop = descriptor.crop == 0 ? nil : PixelRect(packed: descriptor.crop)
    damage = DamageRegion(descriptor)
  }
}
