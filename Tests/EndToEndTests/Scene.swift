import Foundation
import Platform
import TestSupport

/// A group in a temporary root, in which this package's programs run as a user would run them.
final class Scene: Sendable {
  let root: TemporaryRoot
  /// What its programs see as /dev/shm, if not the machine's.
  private let sharedMemory: OwnSharedMemory?

  init(sharedMemory: OwnSharedMemory? = nil) throws {
    self.sharedMemory = sharedMemory
    root = try TemporaryRoot()
    try output(of: "framebus", ["group", "create", "group.local.framebus", "--root", root.path])
  }

  func file(_ name: String) -> String { root.file(name) }

  /// Starts `framebus …`.
  func start(
    _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try start(arguments, environment: environment)
  }

  func start(
    _ arguments: [String], environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    var changed = environment
    changed["FRAMEBUS_HOME"] = root.path
    changed["FRAMEBUS_GROUP"] = .some(nil)
    return try RunningProgram(
      "framebus", arguments, environment: changed, seeing: sharedMemory)
  }

  /// Runs `framebus …` to its end.
  func run(
    _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> ProgramResult {
    try start(arguments, environment: environment).finish()
  }

  /// The only stream in the output of `framebus streams --json`; nil also while its publisher is
  /// too busy to answer.
  func stream() throws -> StreamRow? {
    let result = try run("streams", "--json")
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
    guard result.output.contains("\"generation\"") else { return nil }
    return try JSONDecoder().decode([StreamRow].self, from: Data(result.output.utf8)).first
  }

  func waitForStream(
    _ what: String, _ condition: (StreamRow) throws -> Bool
  ) throws -> StreamRow {
    var found: StreamRow?
    try waitUntil(what) {
      found = try stream()
      return try found.map(condition) ?? false
    }
    guard let found else { throw HarnessError("no stream, but \(what)") }
    return found
  }
}

struct StreamRow: Decodable {
  struct Publisher: Decodable { let pid: Int32 }
  struct Format: Decodable {
    let kind: String
    let fourcc: String
    let width: Int
    let height: Int
  }
  struct Subscriber: Decodable {
    let id: Int
    let pid: Int32
    let position: UInt64
    let lag: UInt64
    let held: Int
    let received: UInt64
    let dropped: UInt64
  }
  let name: String
  let state: String
  let generation: UInt64
  let publisher: Publisher
  let cursor: UInt64
  let format: Format
  let slots: Int
  let slotBytes: Int
  let published: UInt64
  let subscribers: [Subscriber]
}
