#if Media
  /// The multivariant playlist: what a player needs to know of each rendition to choose one.
  struct HLSVariants {
    /// A rendition's part of one segment.
    struct Content {
      let byteCount: Int
      let tracks: [MP4Track]
      /// Pictures in a second; nil if that varies.
      let rate: Double?
    }

    fileprivate struct Variant {
      /// Of pictures, by the encoder's settings: no segment has more.
      let mostBitsPerSecond: Int
      var peakBitsPerSecond = 0
      var codecs: [String] = []
      var width = 0
      var height = 0
      var rate: Double?
      var bits = 0.0
      /// Of the newest segment, of which a short one belongs to its neighbour's peak.
      var newestBits = 0.0
    }

    /// Of sound at 128 kbit/s.
    fileprivate static let mostOfSound = 150_000

    private var variants: [Variant]
    private var seconds = 0.0
    private var newestSeconds = 0.0
    private var isEnded = false

    /// - Parameter bitsPerSecond: that the encoder of each rendition aims at. In two seconds, its
    ///   rate buffer of 0.6 s adds three tenths, and the container less than another.
    init(bitsPerSecond: [Int]) {
      variants = bitsPerSecond.map { Variant(mostBitsPerSecond: $0 / 10 * 14) }
    }

    /// - Returns: whether the playlist says something else now.
    mutating func add(_ contents: [Content], seconds: Double) -> Bool {
      let before = isEmpty ? "" : text(["", ""])
      self.seconds += seconds
      for (index, content) in contents.enumerated() where variants.indices.contains(index) {
        variants[index].add(content, seconds, after: newestSeconds)
      }
      newestSeconds = seconds
      return text(["", ""]) != before
    }

    private var isEmpty: Bool { variants.allSatisfy(\.codecs.isEmpty) }

    /// All segments are known: what was a limit becomes what they have.
    mutating func end() { isEnded = true }

    /// - Parameter playlists: their names.
    func text(_ playlists: [String]) -> String {
      var lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-INDEPENDENT-SEGMENTS"]
      for (variant, playlist) in zip(variants, playlists) {
        var attributes = [
          "BANDWIDTH=\(variant.bandwidth(isEnded: isEnded))",
          "CODECS=\"\(variant.codecs.joined(separator: ","))\"",
          "RESOLUTION=\(variant.width)x\(variant.height)",
        ]
        if isEnded {
          let average = Int((variant.bits / max(0.001, seconds)).rounded())
          attributes.insert("AVERAGE-BANDWIDTH=\(average)", at: 1)
        }
        if let rate = variant.rate { attributes.append("FRAME-RATE=\(Self.thousandths(rate))") }
        lines += ["#EXT-X-STREAM-INF:" + attributes.joined(separator: ","), playlist]
      }
      return lines.joined(separator: "\n") + "\n"
    }

    private static func thousandths(_ rate: Double) -> String {
      let count = Int((rate * 1000).rounded())
      return "\(count / 1000).\(String(1000 + count % 1000).dropFirst())"
    }
  }

  extension HLSVariants.Variant {
    fileprivate mutating func add(
      _ content: HLSVariants.Content, _ seconds: Double, after newestSeconds: Double
    ) {
      let bits = Double(content.byteCount) * 8
      self.bits += bits
      // A peak is that of at least half a target duration (RFC 8216, section 4.1).
      let isShort = seconds * 2 < Double(HLSPlaylist.targetSeconds)
      let rate =
        isShort ? (bits + newestBits) / max(1, seconds + newestSeconds) : bits / max(0.1, seconds)
      peakBitsPerSecond = max(peakBitsPerSecond, Int(rate.rounded(.up)))
      newestBits = bits
      for codec in content.tracks.map(\.codec) where !codecs.contains(codec) {
        codecs.append(codec)
      }
      if let size = content.tracks.first?.size { (width, height) = size }
      self.rate = content.rate ?? self.rate
    }

    /// A peak, or a limit for all segments to come.
    fileprivate func bandwidth(isEnded: Bool) -> Int {
      if isEnded { return peakBitsPerSecond }
      let hasSound = codecs.contains { !$0.hasPrefix("avc1") }
      return max(peakBitsPerSecond, mostBitsPerSecond + (hasSound ? HLSVariants.mostOfSound : 0))
    }
  }
#endif
