import Foundation

/// A fenced block of code in a page.
struct CodeBlock {
  let language: String
  /// The index of the line that begins it.
  let start: Int
  let lines: [String]

  var text: String { lines.joined(separator: "\n") }
  /// A whole program or source file, not an excerpt.
  var isWhole: Bool {
    language == "swift"
      && (text.hasPrefix("import ") || text.hasPrefix("// swift-tools-version"))
  }

  static func all(in page: SourceFile) -> [CodeBlock] {
    var blocks: [CodeBlock] = []
    var start: Int?
    for (index, line) in page.lines.enumerated() where line.hasPrefix("```") {
      if let first = start {
        blocks.append(
          CodeBlock(
            language: String(page.lines[first].dropFirst(3)), start: first,
            lines: Array(page.lines[first + 1..<index])))
        start = nil
      } else {
        start = index
      }
    }
    return blocks
  }
}

/// The README's programs are those of examples/, which are built: so the README compiles.
enum ExampleRule {
  static func check(_ readme: SourceFile, against examples: [SourceFile]) -> [Finding] {
    let sources = Set(examples.map(text))
    return CodeBlock.all(in: readme).compactMap { block in
      guard block.isWhole, block.text.hasPrefix("import ") else { return nil }
      if sources.contains(block.text) { return nil }
      return readme.finding(block.start, "a program that is not one of examples/")
    }
  }

  /// A file without its documentation.
  static func text(_ file: SourceFile) -> String {
    file.lines.filter { !$0.hasPrefix("///") }.joined(separator: "\n")
      .trimmingCharacters(in: .newlines)
  }
}

/// The programs of docs/guides are files that are built, and the lines that a guide changes exist.
enum GuideRule {
  /// - Parameter built: the files of examples/ and of Tests/GuideTests.
  static func checkPrograms(_ guide: SourceFile, against built: [SourceFile]) -> [Finding] {
    CodeBlock.all(in: guide).compactMap { block in
      if !block.isWhole || built.contains(where: { isSame(block, $0) }) { return nil }
      return guide.finding(block.start, "a file that is not built")
    }
  }

  /// A block `diff` names its file (`--- PATH`). Between lines `@@`, the lines that it keeps or
  /// removes stand in that file, in their order; or the edit was made.
  static func checkEdits(_ guide: SourceFile, of files: [SourceFile]) -> [Finding] {
    CodeBlock.all(in: guide).flatMap { block -> [Finding] in
      guard block.language == "diff" else { return [] }
      let path = block.lines.first?.dropFirst(4) ?? ""
      guard let file = files.first(where: { $0.path == path }) else {
        return [guide.finding(block.start, "there is no file “\(path)”")]
      }
      return block.lines.dropFirst().split(separator: "@@").compactMap { hunk in
        let old = hunk.filter { !$0.hasPrefix("+") }.map { String($0.dropFirst()) }
        let new = hunk.filter { !$0.hasPrefix("-") }.map { String($0.dropFirst()) }
        let isMade = !new.isEmpty && file.lines.contains(new)
        if !old.isEmpty, isMade || file.lines.contains(old) { return nil }
        return guide.finding(hunk.startIndex + block.start + 1, "\(path) has no such lines")
      }
    }
  }

  private static func isSame(_ block: CodeBlock, _ file: SourceFile) -> Bool {
    // A program of the guides lies beside FrameBus, an example in it.
    let text = block.text.replacing("\"../FrameBus\"", with: "\"../..\"")
    if text == ExampleRule.text(file) { return true }
    // The file imports the module in which the guide places it.
    func parts(_ lines: [String]) -> (imports: Set<String>, rest: [String]) {
      let rest = lines.filter { !$0.hasPrefix("import ") }
      return (Set(lines.filter { $0.hasPrefix("import ") }), rest)
    }
    let (wanted, found) = (parts(block.lines), parts(file.lines))
    return wanted.imports.isSubset(of: found.imports)
      && wanted.rest == Array(found.rest.dropLast(found.rest.last == "" ? 1 : 0))
  }
}

/// docs/decisions/README.md lists each decision by its number, file and title.
enum DecisionRule {
  static func check(_ list: SourceFile, against pages: [SourceFile]) -> [Finding] {
    pages.compactMap { page in
      let file = page.path.split(separator: "/").last ?? ""
      let heading = page.lines[0].dropFirst(2).split(separator: ": ", maxSplits: 1)
      guard heading.count == 2, file.hasPrefix(heading[0] + "-") else {
        return page.finding(0, "a heading that is not “# NNNN: TITLE”, with the file's number")
      }
      let row = "| [\(heading[0])](\(file)) | \(heading[1]) | "
      if list.lines.contains(where: { $0.hasPrefix(row) }) { return nil }
      return list.finding(0, "lacks the row \(row)")
    }
  }
}
