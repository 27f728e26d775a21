import AppGroup
import Platform

/// The name of a run's files: its role, its start by the wall clock, and its process ID, so that
/// names sort by time within a role. Names serve people and the search for files; the facts about a
/// run come from the files' header.
struct RunName: Hashable, Comparable {
  let text: String
  let role: String
  private let startedAt: String

  static let segmentSuffix = ".segment"
  static let fileSuffix = ".log"
  static let temporaryPrefix = ".new-"

  init(_ role: Role, wallNs: UInt64, pid: Int32) {
    let digits = String(wallNs, radix: 16)
    startedAt = String(repeating: "0", count: 16 - digits.count) + digits
    self.role = role.rawValue
    text = "\(role)-\(startedAt)-\(pid)"
  }

  private init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 3, text.utf8.count <= 80, parts[parts.count - 2].utf8.count == 16,
      UInt64(parts[parts.count - 2], radix: 16) != nil, UInt32(parts[parts.count - 1]) != nil
    else { return nil }
    startedAt = String(parts[parts.count - 2])
    role = parts.dropLast(2).joined(separator: "-")
    self.text = String(text)
  }

  /// Parses the name of a segment; nil if it is not one.
  init?(segment name: String) {
    guard name.hasSuffix(Self.segmentSuffix) else { return nil }
    self.init(name.dropLast(Self.segmentSuffix.utf8.count))
  }

  /// Parses the name of a file: its run, and its index in the run, from 1.
  static func file(_ name: String) -> (run: RunName, index: Int)? {
    guard name.hasSuffix(fileSuffix) else { return nil }
    let stem = name.dropLast(fileSuffix.utf8.count)
    guard let dot = stem.lastIndex(of: "."), let run = RunName(stem[..<dot]),
      let index = Int(stem[stem.index(after: dot)...]), index > 0,
      run.fileName(index) == name
    else { return nil }
    return (run, index)
  }

  var segmentName: String { text + Self.segmentSuffix }

  func fileName(_ index: Int) -> String {
    let digits = "\(index)"
    let zeros = String(repeating: "0", count: max(0, 6 - digits.count))
    return "\(text).\(zeros)\(digits)\(Self.fileSuffix)"
  }

  static func < (left: RunName, right: RunName) -> Bool {
    (left.startedAt, left.text) < (right.startedAt, right.text)
  }
}
