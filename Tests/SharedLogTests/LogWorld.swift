import AppGroup
import Foundation
import Platform
import SharedLog
import TestSupport

/// A group in a temporary root, and helpers to use its log.
struct LogWorld {
  let root: TemporaryRoot
  let group: AppGroup

  static let groupName = "org.example.test"

  /// - Parameter mode: 0o755 for a root that other users must reach.
  init(mode: Int = 0o700) throws {
    root = try TemporaryRoot(mode: mode)
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
  }

  func log(_ change: (inout LogOptions) -> Void = { _ in }) throws -> SharedLog {
    var options = LogOptions()
    options.minimumLevel = .trace
    change(&options)
    return try SharedLog.open(group, role: .host, options: options)
  }

  /// Starts a `LogWorker` in this world.
  func worker(_ work: String, _ settings: String...) throws -> RunningProgram {
    try RunningProgram("LogWorker", [work, root.path, Self.groupName] + settings)
  }

  func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", ["--root", root.path, "--group", Self.groupName] + arguments)
  }

  /// All present lines, and the number of missing ones.
  func read() throws -> (lines: [LogRecord], missing: UInt64) { try LogReader(group).all() }

  func messages() throws -> [String] { try read().lines.map(\.message) }

  /// The names of the files, in order.
  func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: group.logsPath).sorted()
  }

  func segments() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: group.logSegmentsPath).sorted()
  }
}

extension LogReader {
  func all() throws -> (lines: [LogRecord], missing: UInt64) {
    var lines: [LogRecord] = []
    var missing: UInt64 = 0
    while let entry = try next() {
      switch entry {
      case .line(let record): lines.append(record)
      case .missing(let count, _): missing += count
      }
    }
    return (lines, missing)
  }
}
