import Foundation
import TestSupport
import Testing

@testable import Platform

/// Records of one length in a file that several processes append to.
@Suite struct RecordFileTests {
  private let root: TemporaryRoot

  init() throws { root = try TemporaryRoot() }

  private func make(_ bytes: [UInt8]) throws {
    try Directory(path: root.path).replaceFile("log", with: bytes, mode: 0o600)
  }

  private func open(_ deadline: Deadline = .after(.seconds(60))) throws -> RecordFile {
    let file = try RecordFile.open(
      "log", in: Directory(path: root.path), recordBytes: 4, ownerID: getuid(), until: deadline)
    guard let file else { throw HarnessError("the lock is held") }
    return file
  }

  @Test func recordsAreAppendedOverWhatADeadProcessLeft() throws {
    try make([1, 1, 1, 1, 2, 2])
    var file = try open()
    let count = file.count
    #expect(count == 1)
    try file.append([3, 3, 3, 3])
    let record = try file.record(1)
    #expect(record == [3, 3, 3, 3])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: root.file("log")))
    #expect(Array(bytes) == [1, 1, 1, 1, 3, 3, 3, 3])
  }

  @Test func oneAtATimeHasTheFile() throws {
    try make([])
    do {
      let first = try open()
      #expect(throws: HarnessError.self) { _ = try open(.now) }
      let count = first.count
      #expect(count == 0)
    }
    _ = try open(.now)
  }

  @Test func aFileThatIsMissingIsNotMade() throws {
    #expect(throws: SystemError.self) { _ = try open() }
    #expect(!FileManager.default.fileExists(atPath: root.file("log")))
  }
}
