#if Media
  import Platform
  import Upload

  /// What follows the directory of `hls:`, such as `?small=360`.
  struct HLSOptions {
    /// The rows of a picture.
    private static let heights = 16...4320

    private(set) var form = HLSForm.fragments
    /// The height of a second, smaller rendition.
    private(set) var smallHeight: Int?
    /// Whether sound is AAC beside a destination that needs Opus too.
    private var needsAAC = false

    /// A transport stream of Opus is played by few.
    var soundEncoders: [SoundEncoder] {
      needsAAC || form == .transportStream ? [.aac] : [.aac, .opus]
    }

    init(_ named: DestinationSpecification) throws(DestinationError) {
      if named.path.isEmpty { throw .malformed(named.description) }
      let text = named.pathOptions
      if text.isEmpty { return }
      for option in text.dropFirst().split(separator: "&", omittingEmptySubsequences: false) {
        let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
        switch (parts.first, parts.last) {
        case ("segments", let value?):
          guard let form = HLSForm(rawValue: value) else { throw Self.refusal(of: option) }
          self.form = form
        case ("small", let value?):
          guard let height = Int(value), Self.heights.contains(height) else {
            throw Self.refusal(of: option)
          }
          smallHeight = height
        case ("sound", "aac"): needsAAC = true
        default: throw Self.refusal(of: option)
        }
      }
      if smallHeight != nil, form == .transportStream {
        throw .peer(
          reason: "a second rendition has fragmented MP4 segments; omit segments=ts or small=",
          isMisuse: true)
      }
    }

    private static func refusal(of option: Substring) -> DestinationError {
      .peer(
        reason: "“\(String(option).plain)” is not an option of hls:; after the directory, write "
          + "?small=HEIGHT for a second rendition of \(heights.lowerBound) to "
          + "\(heights.upperBound) rows, ?segments=ts for MPEG-TS, or ?sound=aac for AAC only; "
          + "in its name, write %3F for a question mark",
        isMisuse: true)
    }
  }
#endif
