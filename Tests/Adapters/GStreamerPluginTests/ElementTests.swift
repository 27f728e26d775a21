import Foundation
import TestSupport
import Testing

/// What the elements do with single buffers, by a program that drives them (plugin_harness.c).
@Suite(.serialized) struct ElementTests {
  private let scene: PluginScene
  init() throws { scene = try PluginScene() }

  @Test func timesDamageOrientationAndCropPassThroughTheStream() throws {
    #expect(
      try scene.lines(of: "carry-metadata") == [
        "moment 0", "duration 33333333", "damage 4,6 8x10", "damage 40,2 3x5",
        "orientation rotate-90", "crop 30x12 77 3",
      ])
  }

  @Test func buffersOfTheSinksPoolArePublishedInPlaceUnlessSomebodyElseHoldsThem() throws {
    #expect(
      try scene.lines(of: "write-in-place") == ["memory FramebusSlot", "published 5 copied 2"])
  }

  @Test func framesBeyondTheQuotaAreCopiesAndOneWarningSaysSo() throws {
    let lines = try scene.lines(of: "hold-frames", 20)
    #expect(lines.first?.contains("hold 7 of 8 leases; shorten their queues") == true)
    #expect(
      lines.dropFirst() == ["warnings 1 read-only 7 copied 13 held 7", "held after the end 0"])
  }

  @Test func streamBeginsAgainAfterItsEndAndAFlush() throws {
    #expect(try scene.lines(of: "publish-again") == ["first end", "second 0"])
  }

  @Test func stateChangesAndFlushesEndAWaitForAPublisher() throws {
    #expect(try scene.lines(of: "interrupt", 40) == ["interrupted"])
  }

  @Test func slowPipelineReceivesTheNewestFramesAndAccountsForTheOthers() throws {
    #expect(try scene.lines(of: "lag", 40) == ["accounted for"])
  }

  @Test func sourceAnswersLatencyQueriesByItsProperties() throws {
    #expect(
      try scene.lines(of: "answer-queries") == ["live 0 latency 0", "live 1 latency 33000000"])
  }

  @Test func loadOfLaterElementsReachesThePublisher() throws {
    #expect(try scene.lines(of: "report-utilization") == ["utilization 0.75"])
  }

  /// The frame after a dropped one shows what both changed.
  @Test func lateBuffersAreDroppedAndTheNextFrameIsWhole() throws {
    #expect(
      try scene.lines(of: "drop-late") == [
        "frame 0 damage 0", "frame 1 damage 1", "frame 3 damage 0", "published 3 late 1",
      ])
  }

  @Test func timesOfARecordingBeginAtZero() throws {
    #expect(try scene.lines(of: "begin-at-zero") == ["pts 0", "pts 40000000", "pts 80000000"])
  }

  @Test func framesGoOnAfterFlushesInMidstream() throws {
    #expect(try scene.lines(of: "flush", 50) == ["went on"])
  }

  @Test func stateChangesAndFlushesEndAWaitForASubscriber() throws {
    #expect(try scene.lines(of: "interrupt-sink", 40) == ["interrupted"])
  }

  @Test func poolWaitsForLosslessSubscribersInsteadOfCopying() throws {
    #expect(try scene.lines(of: "wait-for-slots", 24) == ["ordinary 0", "interrupted 1"])
  }

  @Test func videoscaleMakesPixelsSquare() throws {
    #expect(try scene.lines(of: "scale") == ["square 1 shape 2.67"])
  }

  @Test func sinkWarnsOfChromaSamplesThatLieElsewhereThanSubscribersAssume() throws {
    #expect(
      try scene.lines(of: "lose-chroma-site") == [
        "named 0", "named 0",
        "warning Stream a does not carry chroma-site=mpeg2, and its subscribers assume jpeg; put "
          + "videoconvert ! video/x-raw,chroma-site=jpeg before framebussink",
        "named 0",
      ])
  }

  @Test func inspectDescribesEachProperty() throws {
    for element in ["framebussrc", "framebussink"] {
      let result = try run(
        "gst-inspect-1.0", ["--no-colors", element], environment: scene.plugin.environment)
      let text = result.output
      #expect(result.status.isSuccess)
      #expect(text.contains("License                  Apache 2.0"))
      let own = text.components(separatedBy: "Element Properties:").last ?? ""
      for property in ["stream", "group", "root", "stats"] {
        #expect(own.contains("  \(property) "), "\(element) \(property)")
      }
      for line in own.split(separator: "\n") {
        guard let entry = line.wholeMatch(of: /\s\s([a-z-]+) *: (.*)/) else { continue }
        #expect(entry.2.count > 8, "\(line)")
      }
    }
    let source = try run(
      "gst-inspect-1.0", ["--no-colors", "framebussrc"], environment: scene.plugin.environment
    ).output
    #expect(source.contains("in nanoseconds"))
    #expect(source.contains("keep-latest"))
  }
}
