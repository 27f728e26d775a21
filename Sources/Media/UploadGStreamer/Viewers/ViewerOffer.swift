#if Media
  import WHIP

  /// A viewer's offer, validated, and the tracks to send to it.
  struct ViewerOffer: Sendable {
    /// A media section to send, and the viewer's payload type for the codec.
    struct Track: Hashable, Sendable {
      var isSound: Bool
      var payload: UInt8
    }

    /// The offer in a form that is safe for webrtcbin.
    let text: String
    let candidateCount: Int
    let usernameFragment: String
    /// The names of its sections, in order.
    let mids: [String]
    private(set) var tracks: [Track] = []
    /// Nil if it wants pictures in full size.
    let shownSize: ShownSize?

    private static let maximumSections = 8

    /// - Parameters:
    ///   - codec: RTP's name of the video codec.
    ///   - hasSound: whether sound is sent, in Opus.
    init(_ text: String, codec: String, hasSound: Bool) throws(ViewerRefusal) {
      guard text.hasPrefix("v=0") else { throw .malformed("it is not a session description") }
      var offered = PeerDescription(text, overUDPAlone: true)
      guard offered.candidateCount <= Viewer.maximumCandidates else {
        throw .malformed("it has \(offered.candidateCount) candidates")
      }
      offered.openBundledSections()
      offered.receiveOnly()
      offered.nameOneFingerprint()
      shownSize = ShownSize(in: SessionDescription(text))
      let description = SessionDescription(offered.text)
      guard (1...Self.maximumSections).contains(description.media.count) else {
        throw .malformed("it has \(description.media.count) media sections")
      }
      self.text = offered.text
      candidateCount = offered.candidateCount
      mids = description.media.map(\.mid)
      guard Set(mids).count == mids.count, !mids.contains("") else {
        throw .malformed("its media sections have no names (a=mid)")
      }
      var values: [String: String] = [:]
      for name in ["ice-ufrag", "ice-pwd", "fingerprint", "setup"] {
        values[name] = description.value(of: name)
        if (values[name] ?? "").isEmpty { throw .malformed("it has no a=\(name)") }
      }
      usernameFragment = values["ice-ufrag"] ?? ""
      if let section = description.media.first(where: { $0.kind == "video" && $0.receives }),
        let payload = section.payload(of: codec)
      {
        tracks.append(Track(isSound: false, payload: payload))
      }
      if hasSound,
        let section = description.media.first(where: { $0.kind == "audio" && $0.receives }),
        let payload = section.payload(of: "opus")
      {
        tracks.append(Track(isSound: true, payload: payload))
      }
      if tracks.isEmpty {
        throw .noCommonCodec(hasSound ? "\(codec) and Opus" : codec)
      }
    }
  }

  extension SessionDescription.Media {
    /// The payload types that GStreamer's payloaders accept (RFC 3551, table 5: dynamic).
    private static let payloads: ClosedRange<UInt8> = 96...127

    /// The payload type of a codec; for H.264 one in packetization-mode 1, which allows fragments,
    /// and of the baseline profile if that is offered.
    fileprivate func payload(of codec: String) -> UInt8? {
      let listed = line.split(separator: " ").dropFirst(3)
      let payloads = attributes.compactMap { attribute -> UInt8? in
        guard attribute.hasPrefix("rtpmap:") else { return nil }
        let words = attribute.dropFirst(7).split(separator: " ")
        guard words.count == 2, let number = UInt8(words[0]), Self.payloads.contains(number),
          listed.contains(words[0]),
          words[1].split(separator: "/").first?.lowercased() == codec.lowercased()
        else { return nil }
        return number
      }
      guard codec == "H264" else { return payloads.first }
      let usable = payloads.filter { format(of: $0).contains("packetization-mode=1") }
      let isBaseline = { (payload: UInt8) in
        format(of: payload).lowercased().contains("profile-level-id=42")
      }
      return usable.first(where: isBaseline) ?? usable.first
    }

    private func format(of payload: UInt8) -> String {
      attributes.first { $0.hasPrefix("fmtp:\(payload) ") } ?? ""
    }
  }
#endif
