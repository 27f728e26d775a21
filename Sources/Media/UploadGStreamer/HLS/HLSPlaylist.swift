#if Media
  import Platform

  /// A media playlist of HTTP Live Streaming (RFC 8216). Renditions have the same segments, whose
  /// names alone differ, so one value describes the playlists of all.
  struct HLSPlaylist {
    struct Segment: Equatable {
      let number: UInt64
      var seconds: Double
      /// When its first picture was captured, in ISO 8601.
      var date: String?
      /// Whether its time stamps or encoding differ from those of the segment before.
      var isDiscontinuous = false
      /// The number of its initialization section; nil for a transport stream.
      var map: UInt64?
    }

    /// No rounded duration of a segment may be longer (section 4.3.3.1), and it may never change.
    static let targetSeconds = 3
    /// A player begins three target durations before the end (section 6.3.3).
    private static let fewestSegments = 5
    private static let leastSeconds = Double(3 * targetSeconds)

    private(set) var segments: [Segment] = []
    /// The media sequence number of the first segment.
    private(set) var sequence: UInt64
    /// Discontinuities that have left the playlist.
    private(set) var discontinuityNumber: UInt64
    var isEnded = false

    init(sequence: UInt64 = 0, discontinuityNumber: UInt64 = 0) {
      self.sequence = sequence
      self.discontinuityNumber = discontinuityNumber
    }

    var seconds: Double { segments.reduce(0) { $0 + $1.seconds } }
    /// The media sequence number of a segment after the last.
    var nextSequence: UInt64 { sequence + UInt64(segments.count) }
    /// The discontinuity sequence number of a segment after the last.
    var nextDiscontinuityNumber: UInt64 {
      segments.reduce(discontinuityNumber) { $0 + ($1.isDiscontinuous ? 1 : 0) }
    }

    /// Appends a segment, and takes the oldest away as long as enough remains (section 6.2.2).
    /// - Returns: the segments that left.
    mutating func append(_ segment: Segment) -> [Segment] {
      segments.append(segment)
      var left: [Segment] = []
      while segments.count > Self.fewestSegments,
        seconds - segments[0].seconds >= Self.leastSeconds
      {
        let oldest = segments.removeFirst()
        sequence += 1
        if oldest.isDiscontinuous { discontinuityNumber += 1 }
        left.append(oldest)
      }
      return left
    }

    // MARK: Text

    /// The playlist of one rendition.
    func text(_ files: HLSFiles) -> String {
      var lines = [
        "#EXTM3U", "#EXT-X-VERSION:\(files.form == .fragments ? 6 : 3)",
        "#EXT-X-TARGETDURATION:\(Self.targetSeconds)", "#EXT-X-MEDIA-SEQUENCE:\(sequence)",
        "#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuityNumber)", "#EXT-X-INDEPENDENT-SEGMENTS",
      ]
      var map: UInt64?
      for segment in segments {
        if segment.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
        if let next = segment.map, next != map {
          map = next
          lines.append("#EXT-X-MAP:URI=\"\(files.map(next))\"")
        }
        if let date = segment.date { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(date)") }
        lines += ["#EXTINF:\(Self.milliseconds(segment.seconds)),", files.segment(segment.number)]
      }
      if isEnded { lines.append("#EXT-X-ENDLIST") }
      return lines.joined(separator: "\n") + "\n"
    }

    /// Reads a playlist that an earlier upload wrote.
    /// - Returns: nil if it is not one of this program's, with files of this kind.
    init?(_ text: String, _ files: HLSFiles) {
      let lines = text.split(separator: "\n")
      guard lines.first == "#EXTM3U" else { return nil }
      self.init()
      var next = Segment(number: 0, seconds: 0)
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        let value = parts.count > 1 ? parts[1] : ""
        switch parts[0] {
        case "#EXT-X-MEDIA-SEQUENCE":
          guard let number = HLSFiles.number(value) else { return nil }
          sequence = number
        case "#EXT-X-DISCONTINUITY-SEQUENCE":
          guard let number = HLSFiles.number(value) else { return nil }
          discontinuityNumber = number
        case "#EXT-X-DISCONTINUITY": next.isDiscontinuous = true
        case "#EXT-X-MAP":
          guard let number = files.mapNumber(of: value) else { return nil }
          next.map = number
        case "#EXT-X-PROGRAM-DATE-TIME": next.date = Self.date(value)
        case "#EXTINF":
          guard let seconds = Double(value.prefix { $0 != "," }), (0...3600).contains(seconds)
          else { return nil }
          next.seconds = seconds
        case "#EXT-X-ENDLIST": isEnded = true
        case let name where !name.hasPrefix("#"):
          guard let number = files.number(ofSegment: String(line)),
            segments.last.map({ $0.number < number }) ?? true
          else { return nil }
          segments.append(
            Segment(
              number: number, seconds: next.seconds, date: next.date,
              isDiscontinuous: next.isDiscontinuous, map: next.map))
          next = Segment(number: 0, seconds: 0, map: next.map)
        default: break
        }
      }
      guard segments.allSatisfy({ ($0.map != nil) == (files.form == .fragments) }) else {
        return nil
      }
    }

    private static func milliseconds(_ seconds: Double) -> String {
      let count = Int((seconds * 1000).rounded())
      return "\(count / 1000).\(String(1000 + count % 1000).dropFirst())"
    }

    /// A time of the wall clock, in nanoseconds since 1970.
    static func date(wallNs: UInt64) -> String {
      let milliseconds = wallNs / 1_000_000
      let fraction = String(1000 + milliseconds % 1000).dropFirst()
      return utcText(seconds: Int64(milliseconds / 1000)).dropLast() + ".\(fraction)Z"
    }

    private static func date(_ text: String) -> String? {
      let isDate = text.utf8.count <= 40 && text.allSatisfy { $0.isASCII && !$0.isWhitespace }
      return isDate ? text : nil
    }
  }
#endif
