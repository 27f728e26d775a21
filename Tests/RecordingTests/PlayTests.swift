import TestSupport
import Testing

/// Playing a part of a recording.
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

  @Test func itEndsWithTheRecordingHoweverManyFramesAreAskedFor() throws {
    let rest = try studio.run("play", "--raw", recording, "--from", "2", "--frames", "\(Int.max)")
    #expect(rest.output.bytes.count == 4 * Self.frameBytes)
    let two = try studio.run("play", "--raw", recording, "--from", "4", "--frames", "2")
    #expect(two.output.bytes.count == 2 * Self.frameBytes)
  }
}
