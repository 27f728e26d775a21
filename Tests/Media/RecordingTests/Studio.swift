import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport

@testable import Recording

/// A group in a temporary root, in which this package's programs run as a user would run them.
struct Studio {
  let root: TemporaryRoot
  let group: AppGroup

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(.local, root: root.path)
  }

  func file(_ name: String) -> String { root.file(name) }

  /// Starts `framebus …`.
  func start(
    _ arguments: [String], environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    var changed = environment
    changed["FRAMEBUS_HOME"] = root.path
    changed["FRAMEBUS_GROUP"] = .some(nil)
    return try RunningProgram("framebus", arguments, environment: changed)
  }

  /// Runs `framebus …` to its end, which must be successful.
  @discardableResult
  func run(_ arguments: String...) throws -> RunningProgram {
    let program = try start(arguments)
    let result = try program.finish()
    guard result.status.isSuccess else {
      throw HarnessError("`\(program.name)` \(result.status): \(result.errors)")
    }
    return program
  }

  /// Starts a publisher whose frames consist of their own number.
  func worker(_ settings: String..., stream: String = "screen") throws -> RunningProgram {
    let worker = try RunningProgram(
      "BusWorker", ["publish", root.path, GroupID.local.description, stream] + settings)
    try worker.waitForOutput("publishing")
    return worker
  }

  /// The final output of `framebus record … --json`.
  func recordedFigures(_ program: RunningProgram) throws -> RecordedFigures {
    try JSONDecoder().decode(RecordedFigures.self, from: Data(program.output.text.utf8))
  }
}

struct RecordedFigures: Decodable {
  let frames: Int
  let bytes: Int
  let drops: Int
  let isDirect: Bool
  let usesRing: Bool
  let end: String
}

/// A y4m stream parsed by code of its own.
struct Y4M {
  let header: String
  let frames: [ArraySlice<UInt8>]

  init(_ bytes: [UInt8], frameBytes: Int) throws {
    let end = bytes.firstIndex(of: 10) ?? 0
    header = String(decoding: bytes[..<end], as: UTF8.self)
    var rest = bytes[(end + 1)...]
    var frames: [ArraySlice<UInt8>] = []
    while !rest.isEmpty {
      guard rest.starts(with: Array("FRAME\n".utf8)), rest.count >= 6 + frameBytes else {
        throw HarnessError("no whole frame after \(frames.count)")
      }
      frames.append(rest.dropFirst(6).prefix(frameBytes))
      rest = rest.dropFirst(6 + frameBytes)
    }
    self.frames = frames
  }
}

/// The number that every word of a `BusWorker` frame holds, or nil if the frame is torn.
func number(of frame: ArraySlice<UInt8>) -> UInt64? {
  guard frame.count >= 8, isOneWordRepeated(frame) else { return nil }
  return UInt64(littleEndian: frame.prefix(8))
}
