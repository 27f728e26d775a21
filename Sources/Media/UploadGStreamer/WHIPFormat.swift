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
    /// Why the first codec was refused, until a connection works.
    private var refusal: WHIPError?
    /// The codec with which the endpoint took the sound, and no pictures.
    private var soundCodec: VideoCodec?
    /// Whether it has refused all codecs of this machine's.
    private var isExhausted = false

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
      (soundCodec, isExhausted) = (nil, false)
    }

    /// A connection has worked.
    mutating func accepted() { refusal = nil }

    /// Some servers fail on a codec that they do not know.
    private func isFailure(_ error: WHIPError) -> Bool {
      guard refusal != nil, case .refused(let answer) = error else { return false }
      return [400, 500, 501].contains(answer.status)
    }

    /// What to report of an error: the first refusal says more than a failure on the last codec.
    func cause(of error: WHIPError) -> WHIPError { isFailure(error) ? refusal ?? error : error }

    /// Only frames have layers, and not another encoder's units.
    mutating func leaveLayers() { hasLayers = false }

    /// Chooses what to offer after a refusal: one size, or the next codec of this machine's.
    /// One offer of several codecs would not do: webrtcbin offers what it already has.
    /// - Parameter takesSound: whether the endpoint refuses the pictures alone.
    /// - Returns: the report; nil if the error is another, or there is nothing else to offer.
    mutating func change(
      after error: WHIPError, takesSound: Bool, _ settings: EncoderSettings
    ) -> WHIPReport? {
      if hasLayers, error.refusesLayers {
        hasLayers = false
        return (try? choose(settings)) == nil ? nil : .oneSize
      }
      guard !isExhausted, error.refusesCodec || isFailure(error) else { return nil }
      refusal = refusal ?? error
      let refused = encoder.codec
      if takesSound { soundCodec = refused }
      codecs.removeAll { $0 == refused || !GStreamerRuntime.has($0.packer) }
      if (try? choose(settings)) == nil {
        isExhausted = true
        codecs = [soundCodec ?? refused]
        // Back to where the sound was taken, unless it is there.
        if soundCodec == nil || takesSound || (try? choose(settings)) == nil { return nil }
      }
      return .otherCodec(refused.rtpName, instead: encoder.codec.rtpName)
    }
  }
#endif
