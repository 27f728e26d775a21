#if Media
  import CGStreamer
  import FrameBus
  import Upload

  /// The encoders of one codec that are installed, the best first: the element `framebusencoder`
  /// encodes with the first that works.
  struct EncoderChoice: VideoEncoder, LiveEncoder {
    enum Use: Hashable {
      /// For a container.
      case stored
      /// For live peers, which request key frames. Others, such as a recorder behind the peer, wait
      /// for the next unrequested one.
      case live(H264Profile)

      var keyFrameSeconds: Int { self == .stored ? 2 : 4 }
    }

    /// The frame rate to plan with if the stream's is unknown.
    private static let assumedRate = 30

    let codec: VideoCodec
    /// At least one.
    let kinds: [EncoderKind]
    private let settings: EncoderSettings
    private let use: Use

    /// Destinations make one to check their settings, and another in `prepare`.
    /// - Parameter codecs: those to choose from, the preferred one first.
    init(
      _ settings: EncoderSettings, codecs: [VideoCodec], use: Use
    ) throws(DestinationError) {
      let name = settings.name ?? EncoderKind.automatic
      var kinds = EncoderKind.named(name)
      if kinds.isEmpty { throw .unknownEncoder(name, known: EncoderKind.names) }
      if let preset = settings.preset {
        let known = kinds.count == 1 ? kinds[0].presets : []
        guard known.contains(preset) else {
          throw .unknownPreset(preset, encoder: name, known: known)
        }
      }
      kinds = kinds.filter { codecs.contains($0.codec) }
      guard let wanted = kinds.first else {
        throw .codecNotTaken(name, known: codecs.map(\.rawValue))
      }
      // Before GStreamer starts, only the settings are checked.
      let installed = upload_is_started() ? kinds.filter(\.isInstalled) : kinds
      let usable = installed.filter { !FailedEncoders.shared.contains($0) }
      // Those that failed are tried again if there are no others.
      let left = usable.isEmpty ? installed : usable
      guard let codec = codecs.first(where: { codec in left.contains { $0.codec == codec } }) else {
        let software = kinds.first { $0.device == nil } ?? wanted
        throw .missingElement(software.element, package: software.package)
      }
      self.codec = codec
      self.kinds = left.filter { $0.codec == codec }
      self.settings = settings
      self.use = use
    }

    let factory = "framebusencoder"
    let inputFormatName = "I420"
    var limits: PictureLimits { codec.limits }

    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property {
      .init("bitrate", String(bitsPerSecond))
    }

    let keyFramesOnRequest = [ElementDescription.Property("keys-on-request", "true")]

    // MARK: For containers

    func elements(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      [element(width: width, height: height, rate: rate), .onlyCaps(codec.containerCaps)]
    }

    // MARK: For live peers

    var unitCaps: String { codec.unitCaps }
    var packer: ElementDescription { codec.packer }

    func encoding(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      let encoder = element(width: width, height: height, rate: rate)
      guard codec == .h264, case .live(let profile) = use else { return [encoder] }
      return [encoder, .onlyCaps("video/x-h264,profile=\(profile.capsName)")]
    }

    private func element(width: Int, height: Int, rate: FrameRate) -> ElementDescription {
      let framesPerSecond =
        rate.numerator > 0
        ? max(1, Int(rate.numerator) / max(1, Int(rate.denominator))) : Self.assumedRate
      let rows = kinds.map {
        $0.row(use, preset: settings.preset, keyFrames: framesPerSecond * use.keyFrameSeconds)
      }
      return ElementDescription(
        factory: factory, package: "framebus",
        properties: [
          .init("candidates", rows.joined(separator: "\n")),
          bitrate(settings.bitsPerSecond(width: width, height: height)),
        ])
    }
  }

  extension EncoderKind {
    /// Whether GStreamer has its element. Its plugin is not loaded: some take long, and most are
    /// not used.
    var isInstalled: Bool {
      // SAFETY: the string lives during the call.
      unsafe element.withCString { unsafe upload_names_element($0) }
    }
  }

  extension VideoCodec {
    var limits: PictureLimits { self == .vp8 ? .vp8 : .h264 }

    /// The form that files have.
    fileprivate var containerCaps: String {
      switch self {
      case .h264: "video/x-h264,stream-format=avc,alignment=au"
      case .h265: "video/x-h265,stream-format=hvc1,alignment=au"
      case .vp8, .vp9: unitCaps
      case .av1: "video/x-av1,stream-format=obu-stream,alignment=tu"
      }
    }

    /// The form that payloaders take.
    fileprivate var unitCaps: String {
      switch self {
      case .h264, .h265: "video/x-\(rawValue),stream-format=byte-stream,alignment=au"
      case .vp8, .vp9: "video/x-\(rawValue)"
      case .av1: "video/x-av1,stream-format=obu-stream,alignment=tu"
      }
    }

    var packer: ElementDescription {
      let good = "gstreamer1.0-plugins-good"
      switch self {
      case .h264, .h265:
        return ElementDescription(
          factory: "rtp\(rawValue)pay", package: good,
          // Parameter sets precede each key frame, so that a peer that lost the first can begin.
          properties: [.init("config-interval", "-1"), .init("aggregate-mode", "zero-latency")])
      case .vp8, .vp9:
        return ElementDescription(
          factory: "rtp\(rawValue)pay", package: good,
          properties: [.init("picture-id-mode", "15-bit")])
      // Debian 12 has none; Debian 13 has this package.
      case .av1:
        return ElementDescription(factory: "rtpav1pay", package: "gstreamer1.0-plugins-rs")
      }
    }
  }
#endif
