import Foundation
import TestSupport
import Testing

@testable import Recording

/// Playing a part of a recording, and one that is truncated meanwhile.
@Suite struct PlayTests {
  private static let frameBytes = 320 * 200 * 4

  private let studio: Studio
  private var recording: String { studio.file("a.rec") }

  /// Records five frames.
  init() throws {
    studio = try Studio()
    let worker = try studio.worker("lossless=1", "frames=5", "wait=1")
    try studio.run("record", "screen", studio.file("a.rec"))
    try worker.finish()
  }

  @Test func playbackEndsWithTheRecordingWhateverTheCount() throws {
    let rest = try studio.run("play", "--raw", recording, "--from", "2", "--frames", "\(Int.max)")
    #expect(rest.output.bytes.count == 4 * Self.frameBytes)
    let two = try studio.run("play", "--raw", recording, "--from", "4", "--frames", "2")
    #expect(two.output.bytes.count == 2 * Self.frameBytes)
  }

  @Test func startAfterTheLastFrameIsAUsageError() throws {
    let result = try studio.start(["play", recording, "--from", "6"]).finish()
    #expect(result.status == .exited(2))
    #expect(result.errors.hasSuffix("a.rec has 5 frames; use --from 1 to 5\n"))
  }

  @Test func frameTruncatedDuringPlaybackIsNamedByItsPosition() throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))
    let index = try RecordingIndex(parsing: bytes)
    for (number, entry) in index.entries.enumerated() {
      let start = Int(entry.offset)
      var block = try #require(
        HeadBlock(.frame, of: index.head.id, at: entry.offset, in: Array(bytes[start...])[...]))
      // Its sequence number.
      block.set(1 << 63 + UInt64(number), at: 64)
      bytes.replaceSubrange(start..<start + block.sealed.count, with: block.sealed)
    }
    try Data(bytes).write(to: URL(fileURLWithPath: recording))

    let player = try studio.start(["play", recording, "--from", "3", "--to-stream", "again"])
    try waitUntil("it waits for a subscriber") {
      try studio.run("streams").output.text.contains("again")
    }
    let inThirdFrame = Int(index.entries[2].offset) + HeadBlock.blockBytes + 1
    try output(of: "truncate", ["-s", "\(inThirdFrame)", recording])
    let recorder = try studio.start(["record", "again", studio.file("b.rec")])
    let result = try player.finish()
    #expect(result.status == .exited(1))
    #expect(
      result.errors.contains(
        "error: frame 3 of the recording is damaged; play the rest with --from 4"))
    recorder.process.end()
  }
}
