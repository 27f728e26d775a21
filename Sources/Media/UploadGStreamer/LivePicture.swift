#if Media
  import FrameBus
  import Platform
  import Upload
  import WHIP

  /// The pictures of one connection: their format, and the frame rate and size that its network
  /// allows.
  struct LivePicture {
    /// Pictures come a little early or late.
    private static let toleranceShare = 0.75
    /// The shortest time between two sizes, since each begins with a key frame: a window that a
    /// user resizes has many.
    private static let resizeNs: UInt64 = 500_000_000

    var format: FrameFormat
    var geometry: FrameGeometry
    private let fullRate: FrameRate
    private let fullFrameNs: UInt64
    private var steps: PictureSteps
    /// The time of the newest picture that was sent.
    private var sentNs: UInt64?
    private var resizedNs: UInt64?

    /// - Parameter size: of the first picture, upright.
    init(format: FrameFormat, geometry: FrameGeometry, size: PixelRect) {
      self.format = format
      self.geometry = geometry
      fullRate = format.plannedRate
      fullFrameNs = format.assumedFrameNs
      steps = PictureSteps(width: size.width, height: size.height)
    }

    /// Those of the frames that enter.
    var caps: String { geometry.caps(rate: steps.rate(fullRate, at: steps.step)) }

    /// Changes the frame rate and size to those for the bitrate. The encoder begins anew with a key
    /// frame.
    mutating func follow(
      _ bitrate: BitrateControl, _ pipeline: Pipeline, formatName: String
    ) throws(DestinationError) {
      guard
        steps.follow(
          bitrate.mediaBitsPerSecond, of: bitrate.maximum, nowNs: monotonicNowNs())
      else { return }
      pipeline.scale(to: steps.size(at: steps.step), formatName: formatName)
      try pipeline.setCaps(caps)
    }

    /// Adopts the size of the frames, which a WebRTC receiver takes with a key frame. Too soon
    /// after another size, they are scaled into that one.
    /// - Returns: whether the size is new.
    mutating func follow(
      _ orientation: Orientation, ptsNs: UInt64, _ pipeline: Pipeline, _ encoder: any LiveEncoder
    ) -> Bool {
      let size = geometry.upright(orientation)
      guard size.width != steps.width || size.height != steps.height,
        !(encoder is SimulcastEncoder)
      else { return false }
      if let resizedNs, ptsNs < resizedNs + Self.resizeNs { return false }
      resizedNs = ptsNs
      steps.resize(to: size)
      pipeline.scale(to: steps.size(at: steps.step), formatName: encoder.inputFormatName)
      return true
    }

    /// Whether a picture is left out at the present frame rate.
    mutating func skips(ptsNs: UInt64) -> Bool {
      let intervalNs = Double(fullFrameNs) * Double(steps.step.rateDivisor - 1)
      let leastNs = UInt64(intervalNs + Double(fullFrameNs) * Self.toleranceShare)
      if steps.step.rateDivisor > 1, let sentNs, ptsNs > sentNs, ptsNs - sentNs < leastNs {
        return true
      }
      sentNs = ptsNs
      return false
    }
  }
#endif
