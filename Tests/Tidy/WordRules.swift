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

  /// Phrases that plain English avoids, and home-made terms, with what to write instead.
  /// CONTRIBUTING.md has the rules.
  static let strange: [(phrase: String, instead: String)] = [
    ("whoever", "a noun: the process, the caller"), ("whom", "a noun or “that”"),
    ("is none", "“is not a …”, “no … is”"), ("are none", "“are not …”, “no … are”"),
    ("what is so", "a noun: the state"), ("so many", "a number, or “N”"),
    ("as many as can", "the maximum"), ("all the same", "“anyway”, “still”"),
    ("be it", "“whether”"), ("with a word", "“with a message”"), ("comes to", "a plain verb"),
    ("what is new of it", "“changes”"), ("as whom", "“as which user”"),
    ("stands with", "a noun: the state"), ("to be had", "available"),
    ("patience", "timeout, deadline or retry limit"), ("impatience", "a second signal"),
    ("has had its time", "“has timed out”"), ("showsupby", "deadline"), ("putsby", "deadline"),
    ("wishofliving", "requested state"), ("wish", "request, requested state, option"),
    ("wishes", "requests, options"), ("wished", "requested"), ("spelling", "adapter"),
    ("spellings", "adapters"), ("has no more", "“has reached its end”"),
    ("look before", "poll before"), ("proof by force", "fault injection"),
    ("garbage", "malformed data"), ("take down", "remove"), ("throw out", "remove"),
    ("obey", "apply, handle"), ("obeys", "applies, handles"),
    ("do no more than", "“are confined to”"), ("tells apart", "distinguishes"),
    ("tell apart", "distinguish"),
  ]

  static func checkPhrases(_ file: SourceFile) -> [Finding] {
    let others = ["LICENSE", "debian/copyright"]
    let rules = ["Tests/Tidy/WordRules.swift", "Tests/Tidy/RuleTests.swift"]
    if (others + rules).contains(file.path) {
      return []
    }
    return file.lines.indices.flatMap { index in
      // Names of others: Python's `is None`, and a working group of the IETF.
      let line = file.lines[index].replacing("is None", with: "").lowercased()
        .replacing("draft-ietf-wish", with: "").replacing("there is none", with: "")
      var found = strange.filter { hasWord($0.phrase, in: line) }.map {
        file.finding(index, "“\($0.phrase)”: write \($0.instead)")
      }
      if deniesByNo(line) { found.append(file.finding(index, "“is no …”: write “is not a …”")) }
      return found
    }
  }

  /// “X is no Y”, but not “there is no Y”.
  private static func deniesByNo(_ line: String) -> Bool {
    for verb in [" is no ", " are no "] {
      var rest = Substring(line)
      while let range = rest.range(of: verb) {
        let before = rest[..<range.lowerBound].split { !$0.isLetter }.last ?? ""
        let after = rest[range.upperBound...].split { !$0.isLetter }.first ?? ""
        let isPlain =
          ["there", "if", "where", "is", "so"].contains(before)
          || ["longer", "more", "such"].contains(after)
        if !isPlain { return true }
        rest = rest[range.upperBound...]
      }
    }
    return false
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
