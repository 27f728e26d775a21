#if Media
  import Upload

  /// The encoders of this machine, and which of them an upload to a WHIP endpoint uses.
  public struct EncoderPlan: Sendable {
    public struct Row: Sendable {
      public let kind: EncoderKind
      /// Why it is not used; nil if it is, or if it takes the place of one that fails.
      public let obstacle: String?
    }

    /// The best first.
    public let rows: [Row]
    public var used: [EncoderKind] { rows.filter { $0.obstacle == nil }.map(\.kind) }

    /// - Parameter names: RTP's names of the codecs that the endpoint accepts.
    public init(endpointTakes names: [String]) throws(DestinationError) {
      try GStreamerRuntime.start()
      func obstacle(_ kind: EncoderKind) -> String? {
        if !names.contains(where: { $0.uppercased() == kind.codec.rtpName }) {
          return "the endpoint does not take \(kind.codec.rtpName)"
        }
        let packer = kind.codec.packer
        if !GStreamerRuntime.has(packer) { return "\(packer.factory) needs \(packer.package)" }
        // Elements of devices register themselves only if they find one.
        return kind.isInstalled ? nil : kind.obstacle(hasPlugin: false)
      }
      let obstacles = EncoderKind.all.map(obstacle)
      let first = VideoCodec.allCases.first { codec in
        zip(EncoderKind.all, obstacles).contains { $0.codec == codec && $1 == nil }
      }
      rows = zip(EncoderKind.all, obstacles).map { kind, obstacle in
        let isLater = obstacle == nil && kind.codec != first
        return Row(
          kind: kind,
          obstacle: isLater ? "\(first?.rtpName ?? "") comes first" : obstacle)
      }
    }
  }
#endif
