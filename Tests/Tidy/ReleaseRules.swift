/// Keep a Changelog, and one version in all files that have it.
enum ReleaseRules {
  private static let kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]

  /// Releases are `## Unreleased`, then `## 1.2.3 - 2026-01-31`, newest first. Each has the kinds
  /// of Keep a Changelog, once.
  static func checkChangelog(_ page: SourceFile) -> [Finding] {
    var findings: [Finding] = []
    var versions: [[Int]] = []
    var seen: Set<Substring> = []
    var releases = 0
    for (index, line) in page.lines.enumerated() {
      if line.hasPrefix("## ") {
        seen = []
        releases += 1
        if line == "## Unreleased" {
          if releases > 1 {
            findings.append(page.finding(index, "Unreleased is the first release"))
          }
          continue
        }
        guard let version = release(line.dropFirst(3)) else {
          findings.append(
            page.finding(index, "write “## Unreleased” or “## 1.2.3 - 2026-01-31”"))
          continue
        }
        if let newer = versions.last, !version.lexicographicallyPrecedes(newer) {
          findings.append(page.finding(index, "the newest release comes first"))
        }
        versions.append(version)
      } else if line.hasPrefix("### ") {
        let kind = line.dropFirst(4)
        if !kinds.contains(String(kind)) || releases == 0 {
          findings.append(page.finding(index, "“\(kind)”: write one of \(kinds) in a release"))
        } else if !seen.insert(kind).inserted {
          findings.append(page.finding(index, "“\(kind)” stands in this release twice"))
        }
      }
    }
    if releases == 0 { findings.append(page.finding(0, "there is no release")) }
    return findings
  }

  /// The numbers of `1.2.3 - 2026-01-31`.
  private static func release(_ heading: Substring) -> [Int]? {
    let words = heading.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[1] == "-" else { return nil }
    let date = words[2].split(separator: "-", omittingEmptySubsequences: false)
    guard date.map(\.count) == [4, 2, 2], date.allSatisfy({ $0.allSatisfy(\.isNumber) }) else {
      return nil
    }
    return numbers(words[0])
  }

  /// The three numbers of a version by SemVer, without leading zeros.
  private static func numbers(_ version: Substring) -> [Int]? {
    let parts = version.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == 3, numbers.map({ "\($0)" }) == parts.map({ "\($0)" }) else { return nil }
    return numbers
  }

  /// Where the version stands: a file, and what stands before and after it in its line.
  private static let places = [
    ("Sources/Programs/CommandLineSupport/ProgramEntry.swift", "let packageVersion = \"", "\""),
    ("debian/changelog", "framebus (", ")"), ("python/pyproject.toml", "version = \"", "\""),
  ]

  static func checkVersions(_ files: [SourceFile]) -> [Finding] {
    var first: Substring?
    return places.compactMap { path, before, after in
      guard let file = files.first(where: { $0.path == path }) else {
        return Finding(path: path, line: 1, message: "there is no such file")
      }
      guard let line = file.lines.firstIndex(where: { $0.hasPrefix(before) }) else {
        return file.finding(0, "no line begins with “\(before)”")
      }
      let version = file.lines[line].dropFirst(before.count).prefix { !after.contains($0) }
      guard numbers(version) != nil else {
        return file.finding(line, "“\(version)” is not three numbers")
      }
      if first == nil { first = version }
      return version == first ? nil : file.finding(line, "\(version), elsewhere \(first ?? "")")
    }
  }
}
