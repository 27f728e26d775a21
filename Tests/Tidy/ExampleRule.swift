import Foundation

/// The README's programs are those of examples/, which are built: so the README compiles.
enum ExampleRule {
  static func check(_ readme: SourceFile, against examples: [SourceFile]) -> [Finding] {
    let sources = examples.map { file in
      file.lines.filter { !$0.hasPrefix("///") }.joined(separator: "\n")
        .trimmingCharacters(in: .newlines)
    }
    var findings: [Finding] = []
    var block: [String] = []
    var start: Int?
    for (index, line) in readme.lines.enumerated() {
      if line == "```swift" {
        start = index
        block = []
      } else if line == "```", let first = start {
        start = nil
        guard block.first?.hasPrefix("import ") == true else { continue }
        if !sources.contains(block.joined(separator: "\n")) {
          findings.append(readme.finding(first, "a program that is not one of examples/"))
        }
      } else {
        block.append(line)
      }
    }
    return findings
  }
}
