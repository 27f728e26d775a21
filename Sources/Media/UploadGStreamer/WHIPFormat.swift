#if Media
  import Upload
  import WHIP

  /// What a WHIP upload offers of the pictures: one codec of those that the endpoint has not
  /// refused yet, in one size or, on request, in three.
  struct WHIPFormat {
    private(set) var encoder: any LiveEncoder
    private let profile: H264Profile
    private var codecs = VideoCodec.allCases
    private var hasLayers: Bool

    init(_ settings: EncoderSettings, _ options: WHIPOptions) throws(DestinationError) {
      profile = options.profile
      hasLayers = options.hasLayers
      encoder = try LiveEncoders.make(settings, profile: profile, hasLayers: hasLayers)
    }

    /// Chooses the encoder for the next attempt.
    mutating func choose(_ settings: EncoderSettings) throws(DestinationError) {
      encoder = try LiveEncoders.make(
        settings, profile: profile, codecs: codecs, hasLayers: hasLayers)
    }

    /// Another endpoint may take what this one refused.
    mutating func reset(_ options: WHIPOptions) {
      codecs = VideoCodec.allCases
      hasLayers = options.hasLayers
    }

    /// Only frames have layers, and not another encoder's units.
    mutating func leaveLayers() { hasLayers = false }

    /// Chooses what to offer after a refusal: one size, or the next codec of this machine's.
    /// One offer of several codecs would not do: webrtcbin offers what it already has.
    /// - Returns: the report; nil if the error is another, or there is nothing else to offer.
    mutating func change(
      after error: WHIPError, _ settings: EncoderSettings
    ) -> WHIPReport? {
      if hasLayers, error.refusesLayers {
        hasLayers = false
        return (try? choose(settings)) == nil ? nil : .oneSize
      }
      guard error.refusesCodec else { return nil }
      let refused = encoder.codec
      codecs.removeAll { $0 == refused || !GStreamerRuntime.has($0.packer) }
      guard (try? choose(settings)) != nil else {
        codecs = [refused]
        return nil
      }
      return .otherCodec(refused.rtpName, instead: encoder.codec.rtpName)
    }
  }
#endif
