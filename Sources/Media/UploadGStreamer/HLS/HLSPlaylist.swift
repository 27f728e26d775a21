#if Media
  import Platform

  /// A media playlist of HTTP Live Streaming (RFC 8216). The number in a segment's name is its
  /// media sequence number, so no name is ever used twice in a directory.
  struct HLSPlaylist {
    struct Segment: Equatable {
      let number: UInt64
      var seconds: Double
      /// When its first sample was taken, in ISO 8601.
      var date: String?
      /// Whether its time stamps or encoding differ from those of the segment before.
      var isDiscontinuous = false

      var name: String { HLSPlaylist.prefix + HLSPlaylist.digits(number) + HLSPlaylist.suffix }
    }

    static let name = "index.m3u8"
    private static let prefix = "segment"
    private static let suffix = ".ts"
    /// No rounded duration of a segment may be longer (section 4.3.3.1), and it may never change.
    static let targetSeconds = 3
    /// A player begins three target durations before the end (section 6.3.3).
    private static let fewestSegments = 5
    private static let leastSeconds = Double(3 * targetSeconds)
    /// This program writes no longer numbers.
    private static let mostDigits = 15

    private(set) var segments: [Segment] = []
    /// Discontinuities that have left the playlist.
    private(set) var discontinuityNumber: UInt64 = 0
    var isEnded = false

    init(discontinuityNumber: UInt64 = 0) { self.discontinuityNumber = discontinuityNumber }

    var seconds: Double { segments.reduce(0) { $0 + $1.seconds } }
    /// The number after the last segment's; nil without segments.
    var nextNumber: UInt64? { segments.last.map { $0.number + 1 } }
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
        if oldest.isDiscontinuous { discontinuityNumber += 1 }
        left.append(oldest)
      }
      return left
    }

    // MARK: Text

    var text: String {
      var lines = [
        "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:\(Self.targetSeconds)",
        "#EXT-X-MEDIA-SEQUENCE:\(segments.first?.number ?? 0)",
        "#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuityNumber)", "#EXT-X-INDEPENDENT-SEGMENTS",
      ]
      for segment in segments {
        if segment.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
        if let date = segment.date { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(date)") }
        lines += ["#EXTINF:\(Self.milliseconds(segment.seconds)),", segment.name]
      }
      if isEnded { lines.append("#EXT-X-ENDLIST") }
      return lines.joined(separator: "\n") + "\n"
    }

    /// Reads a playlist that an earlier upload wrote.
    /// - Returns: nil if it is not one of this program's.
    init?(_ text: String) {
      let lines = text.split(separator: "\n")
      guard lines.first == "#EXTM3U" else { return nil }
      var next = Segment(number: 0, seconds: 0)
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        let value = parts.count > 1 ? parts[1] : ""
        switch parts[0] {
        case "#EXT-X-DISCONTINUITY-SEQUENCE":
          guard let number = Self.number(value) else { return nil }
          discontinuityNumber = number
        case "#EXT-X-DISCONTINUITY": next.isDiscontinuous = true
        case "#EXT-X-PROGRAM-DATE-TIME": next.date = Self.date(value)
        case "#EXTINF":
          guard let seconds = Double(value.prefix { $0 != "," }), (0...3600).contains(seconds)
          else { return nil }
          next.seconds = seconds
        case "#EXT-X-ENDLIST": isEnded = true
        case let name where !name.hasPrefix("#"):
          guard let number = Self.number(ofSegment: String(line)),
            nextNumber.map({ $0 == number }) ?? true
          else { return nil }
          segments.append(
            Segment(
              number: number, seconds: next.seconds, date: next.date,
              isDiscontinuous: next.isDiscontinuous))
          next = Segment(number: 0, seconds: 0)
        default: break
        }
      }
    }

    /// The number in a segment's name; nil for other names.
    static func number(ofSegment name: String) -> UInt64? {
      guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
      let digits = name.dropFirst(prefix.count).dropLast(suffix.count)
      guard let number = number(String(digits)), digits == Self.digits(number) else { return nil }
      return number
    }

    private static func number(_ text: String) -> UInt64? {
      guard (1...mostDigits).contains(text.utf8.count),
        text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      else { return nil }
      return UInt64(text)
    }

    private static func digits(_ number: UInt64) -> String {
      let text = "\(number)"
      return String(repeating: "0", count: max(0, 5 - text.count)) + text
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
