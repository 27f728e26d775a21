/// Keys in the path of an address, by which many servers tell their users apart: text that people
/// and logs may see is without them. What looks like none, such as words and short numbers, stays.
package enum AddressKeys {
  /// A path in which only the beginning of each is left, and no query.
  package static func shortened(in path: String) -> String {
    let shown = path.prefix { $0 != "?" }
    let parts = shown.split(separator: "/", omittingEmptySubsequences: false).map {
      mayBeKey($0) ? $0.prefix(3) + "…" : $0
    }
    return parts.joined(separator: "/") + (shown.count < path.count ? "?…" : "")
  }

  /// Those of a path and its query.
  package static func found(in path: String) -> [String] {
    path.split(whereSeparator: { "/?&=".contains($0) }).filter(mayBeKey).map(String.init)
  }

  private static func mayBeKey(_ part: Substring) -> Bool {
    part.count > 16 || part.count > 6 && part.contains(where: \.isNumber)
  }
}
