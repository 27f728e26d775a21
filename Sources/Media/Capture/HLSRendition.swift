import FrameBus

/// A rendition that a master playlist offers (RFC 8216, section 4.3.4.2).
package struct HLSRendition: Hashable, Sendable {
  package let bitsPerSecond: Int
  /// Nil if the playlist does not say.
  package let width, height: Int?

  package static let maximumCount = 256

  /// The rate in kilobits a second up to which only this rendition and smaller ones are.
  package var kilobitsPerSecond: UInt32 { UInt32(clamping: bitsPerSecond / 1000 + 1) }

  /// The largest that fits, or else the smallest; without a size, the one with the highest rate.
  package static func choose(among all: [HLSRendition], fitting size: PixelRect?) -> HLSRendition? {
    let byRate = all.sorted { $0.bitsPerSecond < $1.bitsPerSecond }
    guard let size else { return byRate.last }
    let fitting = byRate.last { ($0.width ?? 0) <= size.width && ($0.height ?? 0) <= size.height }
    return fitting ?? byRate.first
  }

  package static func renditions(in text: String) -> [HLSRendition] {
    var found: [HLSRendition] = []
    for line in text.split(whereSeparator: \.isNewline)
    where line.hasPrefix("#EXT-X-STREAM-INF:") && found.count < maximumCount {
      let values = attributes(line.dropFirst("#EXT-X-STREAM-INF:".count))
      guard let rate = values["BANDWIDTH"].flatMap({ Int($0) }), rate > 0 else { continue }
      let size = (values["RESOLUTION"] ?? "").split(separator: "x").map { Int($0) }
      let isKnown = size.count == 2 && size.allSatisfy { $0.map { $0 > 0 } ?? false }
      found.append(
        HLSRendition(
          bitsPerSecond: rate, width: isKnown ? size[0] : nil, height: isKnown ? size[1] : nil))
    }
    return found
  }

  /// A list of `NAME=VALUE`, in which quoted values may contain commas.
  private static func attributes(_ list: Substring) -> [String: String] {
    var result: [String: String] = [:]
    var rest = list
    while let equals = rest.firstIndex(of: "=") {
      let name = rest[..<equals].filter { $0 != "," && $0 != " " }
      rest = rest[rest.index(after: equals)...]
      let value: Substring
      if rest.first == "\"" {
        value = rest.dropFirst().prefix { $0 != "\"" }
        rest = rest.dropFirst(value.count + 2)
      } else {
        value = rest.prefix { $0 != "," }
        rest = rest.dropFirst(value.count)
      }
      result[String(name)] = String(value)
    }
    return result
  }
}
