import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Replay

/// The file behind `replay:`, written and read in this process.
@Suite struct ReplayRingTests {
  private let root: TemporaryRoot
  private let stream: StreamName

  init() throws {
    root = try TemporaryRoot()
    stream = try StreamName("screen")
  }

  private var path: String { root.file(ReplayFile.name(of: stream)) }

  private func writer() throws -> ReplayWriter {
    try ReplayWriter(of: stream, in: root.path, lengthNs: 1_000_000_000, bitsPerSecond: 0)
  }

  private func unit(_ number: Int, byteCount: Int) -> ReplayUnit {
    let ptsNs = UInt64(number) * 10_000_000
    return ReplayUnit(
      .picture, isKey: number % 10 == 0, ptsNs: ptsNs, dtsNs: ptsNs, durationNs: 10_000_000,
      bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: byteCount))
  }

  private func units(_ reader: ReplayReader) throws -> [ReplayUnit] {
    try reader.units(lastNs: 600_000_000_000)
  }

  private func number(_ unit: ReplayUnit) -> Int { Int(unit.ptsNs / 10_000_000) }

  /// Five times the file's size is written, in units of any length: the file keeps its size, and
  /// the newest units, without a gap.
  @Test func memoryIsBoundedAndTheNewestUnitsStay() throws {
    var random = TestSeed(for: "memoryIsBoundedAndTheNewestUnitsStay").generator
    let writer = try writer()
    let size = OutputFile(path).byteCount
    for number in 0..<500 {
      try writer.append(unit(number, byteCount: .random(in: 1...200_000, using: &random)))
      guard number % 25 == 0 else { continue }
      let found = try units(.open(stream, in: root.path))
      #expect(number == 0 || Self.isRun(found.map(self.number), to: number))
      #expect(found.allSatisfy { $0 == unit(self.number($0), byteCount: $0.bytes.count) })
    }
    #expect(try units(.open(stream, in: root.path)).count > 40)
    #expect(OutputFile(path).byteCount == size)
  }

  private static func isRun(_ numbers: [Int], to last: Int) -> Bool {
    numbers.first.map { numbers == Array($0...last) && $0 % 10 == 0 } == true
  }

  /// A writer that died after any write left the units before it.
  @Test func unitThatWasNotWrittenCompletelyIsLeftOut() throws {
    let writer = try writer()
    for number in 0..<20 { try writer.append(unit(number, byteCount: 1000)) }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let data = ReplayHead.blockBytes + 1024 * ReplayEntry.byteCount
    // The twentieth unit: its bytes, then its row.
    let row = ReplayHead.blockBytes + 20 * ReplayEntry.byteCount
    for cut in [0, 1, 999] + Array(1000..<1000 + ReplayEntry.byteCount - 1) {
      var torn = bytes
      let (written, inRow) = (min(cut, 1000), max(0, cut - 1000))
      for index in data + 19_000 + written..<data + 20_000 { torn[index] = 0 }
      for index in row + inRow..<row + ReplayEntry.byteCount { torn[index] = 0 }
      #expect(try units(ReplayReader(parsing: torn)).map(number) == Array(0..<19))
    }
    #expect(try units(ReplayReader(parsing: bytes)).map(number) == Array(0..<20))
  }

  /// Its row is right: only the checksum of the bytes shows it. What follows remains, from the next
  /// key frame on.
  @Test(arguments: [0, 500, 999])
  func unitWhoseBytesAreOthersIsLeftOut(offset: Int) throws {
    let writer = try writer()
    for number in 0..<20 { try writer.append(unit(number, byteCount: 1000)) }
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let data = ReplayHead.blockBytes + 1024 * ReplayEntry.byteCount
    bytes[data + 3_000 + offset] ^= 1
    #expect(try units(ReplayReader(parsing: bytes)).map(number) == Array(10..<20))
    bytes[data + 19_000 + offset] ^= 1
    #expect(throws: ReplayError.self) { try units(ReplayReader(parsing: bytes)) }
  }

  /// Whatever another program writes into the file, a reader finds units that were written.
  @Test func hostileContentYieldsOnlyWhatWasWritten() throws {
    var random = TestSeed(for: "hostileContentYieldsOnlyWhatWasWritten").generator
    let writer = try writer()
    for number in 0..<300 { try writer.append(unit(number, byteCount: 100)) }
    let original = [UInt8](try Data(contentsOf: URL(filePath: path)))
    for _ in 0..<100 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let end = [48, 30_000, 100_000].randomElement(using: &random) ?? 48
        let offset = Int.random(in: 0..<end, using: &random)
        bytes[offset] = .random(in: 0...255, using: &random)
      }
      guard let reader = try? ReplayReader(parsing: bytes), let found = try? units(reader) else {
        continue
      }
      #expect(found.allSatisfy { $0 == unit(number($0), byteCount: 100) })
    }
  }

  /// Rows with right checksums, as a member who writes the file can make them.
  @Test func hostileRowsWithRightChecksumsAreBounded() throws {
    var random = TestSeed(for: "hostileRowsWithRightChecksumsAreBounded").generator
    let head = ReplayHead(lengthNs: 1_000_000_000, bitsPerSecond: 0, processID: 1)
    let extremes: [UInt64] = [0, 1, 63, 4096, 1 << 20, 1 << 31, 1 << 60, .max - 1, .max]
    for _ in 0..<50 {
      var bytes = head.bytes
      for row in 0..<1024 {
        var entry = ReplayEntry(
          unit(row, byteCount: 10), sequence: UInt64(row == 0 ? 1024 : row), offset: 0
        ).bytes
        for field in [0, 8, 16, 24, 32, 40] where Int.random(in: 0..<8, using: &random) == 0 {
          entry.set(
            littleEndian: extremes.randomElement(using: &random) ?? 0, at: field)
        }
        entry.set(littleEndian: checksum(of: entry[..<60]), at: 60)
        bytes += entry
      }
      bytes += [UInt8](repeating: 0, count: head.fileBytes - bytes.count)
      let reader = try ReplayReader(parsing: bytes)
      _ = reader.heldNs
      _ = try? units(reader)
    }
  }

  @Test func secondUploadOfAStreamIsRefused() throws {
    let first = try writer()
    #expect(throws: SystemError.self) { try writer() }
    try first.append(unit(0, byteCount: 10))
    let names = try Directory(path: root.path).names()
    #expect(names == [ReplayFile.name(of: stream)])
    try first.remove()
    #expect(try Directory(path: root.path).names().isEmpty)
  }
}
