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
