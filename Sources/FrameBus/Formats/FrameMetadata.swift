import CFrameLayout
import Platform

/// Facts about a frame, a bit each. Bits that are not named here are carried all the same.
public struct FrameFlags: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ flag: Int) { rawValue = UInt32(flag) }

  /// Can be decoded without any frame before it. Raw frames can, and need not say so.
  public static let keyFrame = FrameFlags(FB_FLAG_KEY_FRAME)
  /// Time or content jumps before this frame, as after a pause or a seek.
  public static let discontinuity = FrameFlags(FB_FLAG_DISCONTINUITY)
  /// Sound of which every sample is 0.
  public static let silence = FrameFlags(FB_FLAG_SILENCE)
  /// Parts of the picture were blanked because they are not to be recorded.
  public static let protected = FrameFlags(FB_FLAG_PROTECTED)
  /// The same picture as the frame before.
  public static let repeated = FrameFlags(FB_FLAG_REPEATED)
  /// No other frame needs it to be decoded: the one to leave out first.
  public static let droppable = FrameFlags(FB_FLAG_DROPPABLE)
  /// What a decoder must have first, such as parameter sets; no picture and no sound by itself.
  public static let configuration = FrameFlags(FB_FLAG_CONFIGURATION)

  /// The bus's own: the descriptor has a checksum. Never seen in metadata.
  static let checksummed = FrameFlags(FB_FLAG_CHECKSUMMED)
}

/// What travels beside a frame's bytes.
///
/// Times are in nanoseconds. Those of this machine are `CLOCK_MONOTONIC`'s, one clock for all
/// processes and streams; so differences between them are latencies, and sound and pictures of two
/// streams meet by their PTS.
public struct FrameMetadata: Hashable, Sendable {
  /// When the frame is to be shown or heard, the first sample of it where there are many. For live
  /// sources `CLOCK_MONOTONIC`; for others a clock of the source's own that begins anywhere. Grows
  /// from frame to frame, but for encoded frames, which come in the order of decoding. Nothing on
  /// the way changes it.
  public var ptsNs: Int64
  /// How long the frame is shown or heard; 0 where that is not known.
  public var durationNs: UInt64 = 0
  /// When the source had the frame, `CLOCK_MONOTONIC`; 0 where it was not captured but read.
  public var capturedAtNs: UInt64
  public var flags: FrameFlags = []
  public var orientation = Orientation.up
  /// The part of the picture to show, in pixels of the picture in memory; nil for all of it.
  public var crop: PixelRect?
  /// What changed since the frame published before, in pixels of the picture in memory.
  ///
  /// A publisher that cannot tell says `.full`, as the default is. One that can counts from the
  /// last frame it *published*: what changed for a loan that it dropped belongs to the next one.
  /// What the slot held before does not count: all of it must be filled.
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

  /// The part of a picture of this format that is to be shown, as it lies in memory.
  public func visibleRect(of format: FrameFormat) -> PixelRect {
    crop ?? format.bounds
  }

  /// The width and height at which a picture of this format is shown, cropped and upright.
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
  /// What `FrameMetadata.now` says, where no field was set before.
  mutating func setCaptured(at nowNs: UInt64) {
    pts_ns = Int64(nowNs)
    captured_at_ns = nowNs
    orientation = UInt16(Orientation.up.rawValue)
    damage_count = UInt16(FB_DAMAGE_FULL)
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

  /// What another process wrote: rectangles are cut to the picture, so that they can be used as
  /// they are; an orientation that there is not is upright.
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
