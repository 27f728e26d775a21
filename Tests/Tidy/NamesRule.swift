/// The tables of docs/design that map names of others to FrameBus's: each declaration that their
/// second column names is public in Sources.
struct NamesRule: Sendable {
  private let declared: Set<String>

  private static let keywords: Set<Substring> = [
    "func", "var", "let", "struct", "class", "enum", "protocol", "typealias",
  ]

  init(_ sources: [SourceFile]) {
    declared = Set(sources.flatMap { $0.code.flatMap(Self.declared) })
  }

  /// Cases of enumerations count as public, because their own line does not say it.
  private static func declared(in line: String) -> [String] {
    let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "," }
    if let start = words.first, start == "case" || start == "indirect" {
      return words.dropFirst().flatMap { $0.split(separator: ",") }.map(String.init)
    }
    guard words.contains("public") || words.contains("open"),
      let keyword = words.firstIndex(where: keywords.contains), keyword + 1 < words.endIndex
    else { return [] }
    return words[keyword + 1].split(separator: ",").map(String.init)
  }

  func check(_ page: SourceFile) -> [Finding] {
    page.lines.indices.flatMap { line -> [Finding] in
      let cells = page.lines[line].split(separator: "|", omittingEmptySubsequences: false)
      guard page.lines[line].hasPrefix("| "), cells.count > 2 else { return [] }
      return Self.quoted(in: cells[2]).filter { !isDeclared($0) }.map {
        page.finding(line, "Sources has no public `\($0)`")
      }
    }
  }

  private static func quoted(in cell: Substring) -> [Substring] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map(\.element)
  }

  /// Checks only types, and members with their type: `SampleBuffer.retain()`. Commands, keys of
  /// files and constants of C look different.
  private func isDeclared(_ text: Substring) -> Bool {
    let path = text.prefix { $0 != "(" }
    guard path.first?.isUppercase == true, path.contains(where: \.isLowercase),
      path.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." })
    else { return true }
    return path.split(separator: ".").allSatisfy { declared.contains(String($0)) }
  }
}
