import Foundation

/// A text file of the repository, as the rules see it.
struct SourceFile: Sendable {
  /// From the repository's root, such as `Sources/Platform/Waiting/Clock.swift`.
  let path: String
  let lines: [String]
  /// The lines without comments and without what stands in string literals.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    code = SourceFile.withoutCommentsAndStrings(lines)
  }

  var isSwift: Bool { path.hasSuffix(".swift") }
  var isC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }

  /// The folders of Sources that hold modules of one kind; all others are modules.
  private static let families: Set<Substring> = ["Adapters", "C", "Media", "Programs"]

  /// The module whose source this is, or nil.
  var module: String? {
    let parts = path.split(separator: "/")
    guard parts.count > 2, parts[0] == "Sources" else { return nil }
    if !Self.families.contains(parts[1]) { return String(parts[1]) }
    return parts.count > 3 ? String(parts[2]) : nil
  }

  /// How many spaces a line begins with.
  func indent(_ line: Int) -> Int { lines[line].prefix { $0 == " " }.count }
  func trimmed(_ line: Int) -> Substring { lines[line].drop { $0 == " " } }

  /// A finding at a line, counted from 0.
  func finding(_ line: Int, _ message: String) -> Finding {
    Finding(path: path, line: line + 1, message: message)
  }

  /// Findings at the lines that the condition picks.
  func findings(
    in lines: [String], _ message: String, where isBad: (String) -> Bool
  ) -> [Finding] {
    lines.indices.filter { isBad(lines[$0]) }.map { finding($0, message) }
  }

  private static func withoutCommentsAndStrings(_ lines: [String]) -> [String] {
    var isInLongString = false
    return lines.map { line in
      // Most lines hold neither, and this runs over every file.
      if !isInLongString, !line.utf8.contains(where: { $0 == 0x22 || $0 == 0x2f }) { return line }
      var result = ""
      var isInString = false
      var rest = Substring(line)
      while let character = rest.first {
        if rest.hasPrefix("\"\"\"") {
          isInLongString.toggle()
          rest = rest.dropFirst(3)
        } else if isInLongString || isInString {
          if character == "\\" { rest = rest.dropFirst() }
          if character == "\"" { isInString = false }
          rest = rest.dropFirst()
        } else if rest.hasPrefix("//") {
          break
        } else {
          if character == "\"" { isInString = true } else { result.append(character) }
          rest = rest.dropFirst()
        }
      }
      return result
    }
  }
}

/// A place where a rule is broken.
struct Finding: CustomStringConvertible {
  let path: String
  let line: Int
  let message: String
  var description: String { "\(path):\(line): \(message)" }
}

/// The repository that this test was built from.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// Every text file that belongs to the project, read once.
  static let files = Result { try read() }

  private static func read() throws -> [SourceFile] {
    let kinds: Set = [
      "swift", "c", "h", "md", "modulemap", "toml", "pml", "litmus", "py", "sh", "",
    ]
    var result: [SourceFile] = []
    let tree = FileManager.default.enumerator(atPath: root)
    while let path = tree?.nextObject() as? String {
      let name = path.split(separator: "/").last ?? ""
      if name == ".git" || name.hasPrefix(".build") || name == "out" {
        tree?.skipDescendants()
        continue
      }
      // A directory has no text, and is skipped like a binary file.
      guard kinds.contains((path as NSString).pathExtension),
        let text = try? String(contentsOfFile: root + "/" + path, encoding: .utf8)
      else { continue }
      result.append(SourceFile(path: path, text: text))
    }
    guard result.count > 20 else { throw CocoaError(.fileReadNoSuchFile) }
    return result
  }
}
