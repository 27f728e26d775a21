/// Sizes that keep a file readable. They only ever go down.
enum SizeRules {
  static let sourceLines = 500
  /// The one table of modules, a few lines for each.
  static let manifestLines = 600
  static let testLines = 600
  static let columns = 100

  static func checkLength(_ file: SourceFile) -> [Finding] {
    guard file.isSwift || file.isC else { return [] }
    let limit =
      file.path == "Package.swift"
      ? manifestLines : file.path.hasPrefix("Tests/") ? testLines : sourceLines
    let count = file.lines.count - (file.lines.last == "" ? 1 : 0)
    return count <= limit ? [] : [file.finding(limit, "\(count) lines, more than \(limit)")]
  }

  static func checkColumns(_ file: SourceFile) -> [Finding] {
    guard file.isSwift || file.isC || file.path.hasPrefix("scripts/") else { return [] }
    return file.findings(in: file.lines, "more than \(columns) columns") { $0.count > columns }
  }
}
