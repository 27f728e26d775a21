import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Recording

/// Damaged recordings, and files that are not recordings.
@Suite struct DamageTests {
  /// A recording of five frames of several sizes.
  private static func recording() throws -> [UInt8] {
    let studio = try Studio()
    var options = PublisherOptions()
    options.allowsLossless = true
    options.checksums = true
    let publisher = try Publisher(
      StreamName("screen"), in: studio.group, format: .video(.xrgb8888, width: 16, height: 4),
      options: options)
    var plan = RecordingPlan(stream: try StreamName("screen"), path: studio.file("a.rec"))
    plan.frameLimit = 5
    let recorder = try Recorder(plan, in: studio.group, stop: try StopSignal())
    let path = plan.path
    let done = try StopSignal()
    try startThread(named: "publisher") { [publisher = Box(publisher)] in
      for number in 1...5 {
        guard var loan = publisher.loan() else { break }
        loan.format = (try? .video(.xrgb8888, width: 16, height: number)) ?? loan.format
        loan.publish()
      }
      done.raise()
    }
    _ = try recorder.run()
    _ = try firstReadable(done.descriptorNumber, until: .after(.seconds(30)))
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private final class Box: @unchecked Sendable {  // because one thread at a time uses it
    private var publisher: Publisher
    init(_ publisher: consuming Publisher) { self.publisher = publisher }
    func loan() -> FrameLoan? { try? publisher.loan(waitingUntil: .never) }
  }

  @Test func truncatedRecordingKeepsTheCompleteFramesBeforeTheCut() throws {
    let bytes = try Self.recording()
    let whole = try RecordingIndex(parsing: bytes)
    #expect(whole.isFinished)
    #expect(whole.entries.map(\.sequence) == [1, 2, 3, 4, 5])
    for length in stride(from: 0, through: bytes.count - 1, by: 512) {
      guard length >= HeadBlock.byteCount + 8 else {
        #expect(throws: RecordingReadError.notRecording) {
          _ = try RecordingIndex(parsing: Array(bytes.prefix(length)))
        }
        continue
      }
      let index = try RecordingIndex(parsing: Array(bytes.prefix(length)))
      #expect(!index.isFinished)
      // Each of these frames takes two blocks.
      #expect(index.entries == Array(whole.entries.prefix(max(0, (length - 4096) / 8192))))
    }
  }

  @Test func flippedBitIsDetectedOrHarmless() throws {
    let bytes = try Self.recording()
    let whole = try RecordingIndex(parsing: bytes)
    // The heads of the file and of the first frame, the index, and the end.
    let index = bytes.count - 2 * HeadBlock.blockBytes
    for start in [0, 4096, index, index + 4096] {
      for offset in start..<start + HeadBlock.byteCount + 8 {
        var damaged = bytes
        damaged[offset] ^= 1 << UInt8(offset % 8)
        if start == 0 {
          #expect(throws: RecordingReadError.notRecording) {
            _ = try RecordingIndex(parsing: damaged)
          }
          continue
        }
        let found = try RecordingIndex(parsing: damaged)
        // The index has its own checksum; a damaged frame is detected when it is read.
        #expect(found.entries == whole.entries, "offset \(offset)")
      }
    }
  }

  @Test func malformedDataYieldsNoFrameThatWasNotRecorded() throws {
    let seed = TestSeed(for: #function)
    var generator = seed.generator
    let bytes = try Self.recording()
    let whole = Set(try RecordingIndex(parsing: bytes).entries)
    for _ in 0..<3000 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...20, using: &generator) where !damaged.isEmpty {
        let offset = Int.random(in: 0..<damaged.count, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: damaged[offset] = UInt8.random(in: 0...255, using: &generator)
        case 1: damaged.removeLast(offset)
        case 2:
          for index in offset..<min(offset + 16, damaged.count) { damaged[index] = 0xff }
        case 3:
          let block = offset / 4096 * 4096
          damaged += damaged[block..<min(block + 4096, damaged.count)]
        default:
          let block = offset / 4096 * 4096
          damaged.removeSubrange(block..<min(block + 4096, damaged.count))
        }
      }
      guard let index = try? RecordingIndex(parsing: damaged) else { continue }
      #expect(Set(index.entries).isSubset(of: whole), "\(seed)")
    }
  }

  @Test func falseIndexIsNotTrusted() throws {
    let bytes = try Self.recording()
    let head = try FileHead(bytes[...])
    let entries = try RecordingIndex(parsing: bytes).entries
    let endOffset = UInt64(bytes.count - HeadBlock.blockBytes)
    let indexOffset = endOffset - UInt64(HeadBlock.blockBytes)
    func ending(_ count: UInt64, at offset: UInt64, _ checksum: UInt32) -> [UInt8] {
      let lie = FileEnd(
        offset: endOffset, indexOffset: offset, entryCount: count, dropped: 0,
        indexChecksum: checksum)
      return Array(bytes.prefix(Int(endOffset))) + lie.block(of: head.id)
        + [UInt8](repeating: 0, count: HeadBlock.blockBytes - HeadBlock.byteCount - 8)
    }
    let right = checksum(of: entries.bytes[...])
    #expect(try RecordingIndex(parsing: ending(5, at: indexOffset, right)).isFinished)
    for (count, offset, sum) in [
      (.max, indexOffset, right), (5, .max, right), (5, 0, right), (5, endOffset, right),
      (5, indexOffset, right ^ 1), (6, indexOffset, right), (1 << 60, 4096, right),
    ] as [(UInt64, UInt64, UInt32)] {
      let index = try RecordingIndex(parsing: ending(count, at: offset, sum))
      #expect(!index.isFinished)
      #expect(index.entries == entries)
    }
  }

  @Test func nonRecordingIsRefusedWithAReason() throws {
    let studio = try Studio()
    for (name, bytes) in [("empty", []), ("text", Array("hello".utf8))] as [(String, [UInt8])] {
      try Data(bytes).write(to: URL(fileURLWithPath: studio.file(name)))
      let result = try studio.start(["play", studio.file(name)]).finish()
      #expect(result.status == .exited(1))
      #expect(result.errors.hasPrefix("error: this is not a FrameBus recording"))
    }
    let missing = try studio.start(["play", studio.file("missing")]).finish()
    #expect(missing.status == .exited(1))
    #expect(missing.errors.contains("No such file"))
  }

  @Test func recordingOfAnotherVersionIsRefusedWithItsVersion() throws {
    let bytes = try Self.recording()
    var head = try #require(HeadBlock(.file, at: 0, in: bytes[...]))
    head.set(2 | 4096 << 32, at: 32)
    let changed = head.sealed + bytes.dropFirst(head.sealed.count)
    #expect(throws: RecordingReadError.otherVersion(2)) {
      _ = try RecordingIndex(parsing: changed)
    }
  }
}
