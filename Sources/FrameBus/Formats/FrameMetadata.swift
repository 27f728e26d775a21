import CFrameLayout
import Platform

/// Properties of a frame, one bit each. Bits without a name here are passed on unchanged.
public struct FrameFlags: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ flag: Int) { rawValue = UInt32(flag) }

  /// Can be decoded without earlier frames. Implied for raw frames.
  public static let keyFrame = FrameFlags(FB_FLAG_KEY_FRAME)
  /// Time or content jumps at this frame, as after a pause or a seek.
  public static let discontinuity = FrameFlags(FB_FLAG_DISCONTINUITY)
  /// Silent sound: every sample is 0.
  public static let silence = FrameFlags(FB_FLAG_SILENCE)
  /// Parts of the picture were blanked because they must not be recorded.
  public static let protected = FrameFlags(FB_FLAG_PROTECTED)
  /// The same picture as the previous frame.
  public static let repeated = FrameFlags(FB_FLAG_REPEATED)
  /// No other frame depends on it: the first to leave out.
  public static let droppable = FrameFlags(FB_FLAG_DROPPABLE)
  /// Decoder configuration, such as parameter sets, without a picture or sound.
  public static let configuration = FrameFlags(FB_FLAG_CONFIGURATION)
  /// Smaller than the source's picture, because no subscriber needed more at that moment.
  public static let reduced = FrameFlags(FB_FLAG_REDUCED)

  /// Internal: the descriptor has a checksum. Never set in metadata.
  static let checksummed = FrameFlags(FB_FLAG_CHECKSUMMED)
}

/// The metadata of a frame.
///
/// Times are in nanoseconds. Those of this machine use `CLOCK_MONOTONIC`, one clock for all
/// processes and streams. So their differences are latencies, and the PTS synchronizes sound and
/// pictures of two streams.
public struct FrameMetadata: Hashable, Sendable {
  /// Presentation time of the frame, or of its first sample. For live sources `CLOCK_MONOTONIC`;
  /// for others a clock of the source with any origin. Increases from frame to frame, except for
  /// encoded frames, which are in decoding order. The bus does not change it.
  public var ptsNs: Int64
  /// Duration of the frame; 0 if unknown.
  public var durationNs: UInt64 = 0
  /// When the source captured the frame, `CLOCK_MONOTONIC`; 0 if it was not captured but read.
  public var capturedAtNs: UInt64
  /// Its properties.
  public var flags: FrameFlags = []
  /// How to turn the picture for display.
  public var orientation = Orientation.up
  /// The visible part of the picture, in pixels of the picture in memory; nil for all of it.
  public var crop: PixelRect?
  /// The area that changed since the previous published frame, in pixels of the picture in memory.
  ///
  /// A publisher that does not know it uses `.full`, the default. Otherwise the damage is relative
  /// to the last *published* frame: the damage of an abandoned loan belongs to the next frame. The
  /// slot's earlier content is irrelevant: the whole frame must be written.
  public var damage = DamageRegion.full

  /// Metadata with the two times that every frame has.
  public init(ptsNs: Int64, capturedAtNs: UInt64) {
    self.ptsNs = ptsNs
    self.capturedAtNs = capturedAtNs
  }

  /// A frame captured and due now.
  public static func now() -> FrameMetadata { now(monotonicNowNs()) }

  static func now(_ nowNs: UInt64) -> FrameMetadata {
    FrameMetadata(ptsNs: Int64(nowNs), capturedAtNs: nowNs)
  }

  /// The visible part of a picture of this format, in its coordinates in memory.
  public func visibleRect(of format: FrameFormat) -> PixelRect {
    crop ?? format.bounds
  }

  /// The bounds of the visible picture of this format, cropped and upright.
  public func uprightBounds(of format: FrameFormat) -> PixelRect {
    let visible = visibleRect(of: format)
    let whole = PixelRect(x: 0, y: 0, width: visible.width, height: visible.height)
    return orientation.upright(whole, width: visible.width, height: visible.height)
  }
}

extension FrameFormat {
  /// All of the picture.
  public var bounds: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
}

extension fb_descriptor {
  /// The fields of `FrameMetadata.now`, for a descriptor without any other metadata.
  mutating func setCaptured(at nowNs: UInt64) {
    pts_ns = Int64(nowNs)
    captured_at_ns = nowNs
    setDetailsToDefaults()
  }

  /// The second line's values for a frame without details. The key frame is not among them: its
  /// readers read the board.
  @inline(__always)
  mutating func setDetailsToDefaults() {
    flags = 0
    orientation = UInt16(Orientation.up.rawValue)
    damage_count = UInt16(FB_DAMAGE_FULL)
    crop = 0
    crc32c = 0
  }

  /// Whether the second line has these values.
  @inline(__always)
  var isPlain: Bool {
    flags == 0 && orientation == UInt16(Orientation.up.rawValue)
      && damage_count == UInt16(FB_DAMAGE_FULL) && crop == 0
  }
}

extension FrameMetadata {
  func store(into descriptor: inout fb_descriptor) {
    descriptor.pts_ns = ptsNs
    descriptor.duration_ns = durationNs
    descriptor.captured_at_ns = capturedAtNs
    descriptor.flags = flags.subtracting(.checksummed).rawValue
    descriptor.orientation = UInt16(orientation.rawValue)
    descriptor.crop = crop?.intersection(.board).packed ?? 0
    damage.store(into: &descriptor)
  }

  /// Metadata from another process: rectangles are clipped to the picture, so that they can be used
  /// without further checks; an invalid orientation becomes `.up`.
  package init(_ descriptor: fb_descriptor, of format: FrameFormat) {
    ptsNs = descriptor.pts_ns
    durationNs = descriptor.duration_ns
    capturedAtNs = descriptor.captured_at_ns
    flags = FrameFlags(rawValue: descriptor.flags).subtracting(.checksummed)
    orientation = Orientation(rawValue: UInt8(clamping: descriptor.orientation)) ?? .up
    if descriptor.crop != 0 {
      let crop = PixelRect(packed: descriptor.crop).intersection(format.bounds)
      self.crop = crop.isEmpty ? nil : crop
    }
    damage = DamageRegion(descriptor).clipped(to: format.bounds)
  }
}
