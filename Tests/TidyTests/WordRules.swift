import Foundation

/// Words that may not stay in a finished file.
enum WordRules {
  // Written in two parts, so that this file passes its own rule.
  private static let markers = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
  private static let phrases = ["for " + "now", "not " + "implemented", "not yet " + "supported"]
  private static let machinePaths = ["/wo" + "rk/", "/tmp/" + "wt", "/ro" + "ot/", "/ho" + "me/"]

  static func checkMarkers(_ file: SourceFile) -> [Finding] {
    file.findings(in: file.lines, "a left-over marker") { line in
      markers.contains { hasWord($0, in: line) }
        || phrases.contains { hasWord($0, in: line.lowercased()) }
    }
  }

  static func checkPaths(_ file: SourceFile) -> [Finding] {
    file.findings(in: file.lines, "an absolute path of one machine") { line in
      machinePaths.contains { hasPath($0, in: line) }
    }
  }

  /// A path that begins here, and is not the rest of a longer one.
  private static func hasPath(_ path: String, in line: String) -> Bool {
    guard let start = line.range(of: path)?.lowerBound else { return false }
    let before = line[..<start].last
    return before?.isLetter != true && before?.isNumber != true
  }

  private static func hasWord(_ word: String, in line: String) -> Bool {
    var rest = Substring(line)
    while let range = rest.range(of: word) {
      let before = rest[..<range.lowerBound].last
      let after = rest[range.upperBound...].first
      if before?.isLetter != true, after?.isLetter != true { return true }
      rest = rest[range.upperBound...]
    }
    return false
  }
}
