import Foundation
import TestSupport
import Testing

/// A media playlist as a player reads it, and the rules of RFC 8216 that it breaks.
struct ReadPlaylist: Equatable {
  struct Segment: Equatable {
    var name = ""
    var seconds = -1.0
    var date: Date?
    var isDiscontinuous = false
    /// Its initialization section; nil for a transport stream.
    var map: String?
  }

  private(set) var segments: [Segment] = []
  private(set) var target = 0
  private(set) var sequence = 0
  private(set) var discontinuities = 0
  private(set) var isEnded = false
  private(set) var isIndependent = false
  private(set) var broken: [String] = []

  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    require(text.hasSuffix("\n") && lines.first == "#EXTM3U", "4.3.1.1: EXTM3U is first")
    var next = Segment()
    var version = 0
    var counts: [String: Int] = [:]
    for line in lines.dropFirst() where !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      let value = parts.count > 1 ? parts[1] : ""
      counts[parts[0], default: 0] += 1
      let isBeforeSegments = segments.isEmpty && next == Segment()
      let hadMap = next.map
      switch parts[0] {
      case "#EXT-X-VERSION":
        version = Int(value) ?? 0
        require(version >= 3, "7: EXTINF has fractions")
      case "#EXT-X-MAP":
        next.map = value.wholeMatch(of: /URI="([^"]+)"/).map { String($0.output.1) }
        require(next.map != nil, "4.3.2.5: \(value) names a resource")
        require(version >= 6, "7: EXT-X-MAP of media needs version 6")
        require(
          hadMap == nil || next.isDiscontinuous, "4.3.2.3: other tracks need a discontinuity")
      case "#EXT-X-TARGETDURATION": target = Int(value) ?? 0
      case "#EXT-X-MEDIA-SEQUENCE":
        sequence = Int(value) ?? -1
        require(isBeforeSegments, "4.3.3.2: MEDIA-SEQUENCE is before the segments")
      case "#EXT-X-DISCONTINUITY-SEQUENCE":
        discontinuities = Int(value) ?? -1
        require(isBeforeSegments, "4.3.3.3: DISCONTINUITY-SEQUENCE is before the segments")
      case "#EXT-X-INDEPENDENT-SEGMENTS": isIndependent = true
      case "#EXT-X-ALLOW-CACHE": break
      case "#EXT-X-DISCONTINUITY": next.isDiscontinuous = true
      case "#EXT-X-PROGRAM-DATE-TIME":
        next.date = try? Date(
          value, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        require(next.date != nil, "4.3.2.6: \(value) is a date")
      case "#EXTINF":
        let seconds = Double(value.prefix { $0 != "," }) ?? -1
        next.seconds = seconds.isFinite ? seconds : -1
      case "#EXT-X-ENDLIST": isEnded = true
      case let name where !name.hasPrefix("#"):
        next.name = name
        segments.append(next)
        next = Segment(map: next.map)
      default: require(!line.hasPrefix("#EXT"), "unexpected tag \(line)")
      }
    }
    require(next == Segment(map: next.map), "4.3.2: a tag without its segment")
    require(counts["#EXT-X-VERSION"] == 1, "4.3.1.2: one version")
    require(target > 0 && counts["#EXT-X-TARGETDURATION"] == 1, "4.3.3.1: one target duration")
    for (tag, count) in counts where tag.hasPrefix("#EXT-X-") && !Self.repeated.contains(tag) {
      require(count == 1, "4.3: \(tag) appears \(count) times")
    }
    for segment in segments {
      require(segment.seconds >= 0, "4.3.2.1: \(segment.name) has a duration")
      require(
        Int(segment.seconds.rounded()) <= target, "4.3.3.1: \(segment) is above \(target) s")
    }
  }

  private static let repeated = [
    "#EXT-X-DISCONTINUITY", "#EXT-X-PROGRAM-DATE-TIME", "#EXT-X-MAP",
  ]

  private mutating func require(_ condition: Bool, _ rule: String) {
    if !condition { broken.append(rule) }
  }

  var seconds: Double { segments.reduce(0) { $0 + $1.seconds } }
  var next: Int { sequence + segments.count }

  /// The rules of section 6.2 that a step from one playlist of a server to the next breaks.
  func broken(in later: ReadPlaylist) -> [String] {
    var broken: [String] = []
    func require(_ condition: Bool, _ rule: String) {
      if !condition { broken.append("\(rule): \(self) → \(later)") }
    }
    require(!isEnded, "6.2.1: a playlist with ENDLIST does not change")
    require(later.target == target, "6.2.1: the target duration does not change")
    let removed = later.sequence - sequence
    require(removed >= 0, "6.2.2: MEDIA-SEQUENCE does not decrease")
    guard removed >= 0, removed <= segments.count else { return broken }
    let kept = segments.dropFirst(removed)
    require(
      Array(later.segments.prefix(kept.count)) == Array(kept),
      "6.2.2: MEDIA-SEQUENCE counts the removed segments, and others stay")
    let lost = segments.prefix(removed).count(where: \.isDiscontinuous)
    require(
      later.discontinuities == discontinuities + lost,
      "6.2.2: DISCONTINUITY-SEQUENCE counts the removed tags")
    require(
      removed == 0 || later.seconds >= Double(3 * target),
      "6.2.2: segments are removed only while three target durations remain")
    return broken
  }
}

/// What an upload has written into a directory, as a web server's players see it.
final class HLSDirectory {
  let path: String
  let playlist: String
  /// Each state of the playlist.
  private(set) var playlists: [ReadPlaylist] = []
  /// The digest of each segment when a playlist named it first.
  private var contents: [String: Int] = [:]
  private(set) var broken: [String] = []
  private var text = ""

  init(_ path: String, playlist: String = "index.m3u8") throws {
    self.path = path
    self.playlist = playlist
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  var newest: ReadPlaylist? { playlists.last }

  /// Reads the playlist, and checks it against the one before.
  func look() {
    guard let text = try? String(contentsOfFile: "\(path)/\(playlist)", encoding: .utf8) else {
      return
    }
    guard text != self.text else { return }
    self.text = text
    let read = ReadPlaylist(text)
    broken += read.broken + (playlists.last?.broken(in: read) ?? [])
    playlists.append(read)
    for segment in read.segments {
      guard let bytes = FileManager.default.contents(atPath: "\(path)/\(segment.name)") else {
        broken.append("6.2.2: \(segment.name) is available")
        continue
      }
      if contents[segment.name] == nil { broken += brokenRules(of: segment, bytes) }
      if let old = contents[segment.name], old != bytes.hashValue {
        broken.append("6.2.1: \(segment.name) does not change")
      }
      contents[segment.name] = bytes.hashValue
    }
  }

  private func brokenRules(of segment: ReadPlaylist.Segment, _ bytes: Data) -> [String] {
    guard let map = segment.map else {
      // A transport stream begins with its program association table, then its program map.
      let hasTable =
        bytes.count >= 376 && bytes[0] == 0x47 && bytes[1] & 0x1f == 0 && bytes[2] == 0
      return hasTable ? [] : ["3.2: \(segment.name) begins with a PAT"]
    }
    guard let section = FileManager.default.contents(atPath: "\(path)/\(map)") else {
      return ["4.3.2.5: \(map) is available"]
    }
    return ReadBoxes(section).brokenInSection.map { "3.3: \(map) \($0)" }
      + ReadBoxes(bytes).brokenInSegment.map { "3.3: \(segment.name) \($0)" }
  }

  func wait(for what: String, _ condition: (ReadPlaylist) -> Bool) throws {
    try waitUntil("\(what): \(newest.map { "\($0)" } ?? "no playlist")") {
      look()
      return newest.map(condition) ?? false
    }
  }

  /// The key frames of a segment, and the number of its pictures.
  func pictures(in segment: ReadPlaylist.Segment) throws -> (keys: [Int], count: Int) {
    let parts = [segment.map, segment.name].compactMap { name in name.map { "\(path)/\($0)" } }
    let flags = try output(
      of: "ffprobe",
      [
        "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0",
        "concat:" + parts.joined(separator: "|"),
      ]
    ).split(separator: "\n")
    return (flags.indices.filter { flags[$0].hasPrefix("K") }, flags.count)
  }
}
