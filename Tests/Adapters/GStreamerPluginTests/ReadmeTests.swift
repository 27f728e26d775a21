import Foundation
import TestSupport
import Testing

/// The pipelines of the README, run as they stand there, but without a window.
@Suite struct ReadmeTests {
  @Test func pipelinesOfTheReadmePassAStreamOn() throws {
    let scene = try PluginScene()
    let readme = try String(contentsOfFile: tool("../../README.md"), encoding: .utf8)
    let pipelines = readme.split(separator: "\n").filter {
      $0.hasPrefix("gst-launch-1.0 ") && $0.contains(" ! ")
    }.map { $0.dropFirst("gst-launch-1.0 ".count).prefix { $0 != "#" } }
    try #require(pipelines.count == 2)
    let sender = try scene.launch(String(pipelines[0]))
    let viewer = try scene.launch(
      String(pipelines[1]).replacing("autovideosink", with: "fakesink"))
    try waitUntil("ten frames are through") {
      try scene.start(["streams"]).finish().output.contains(/received [0-9]{2,}/)
    }
    #expect(viewer.process.status == nil, "\(viewer.transcript)")
    #expect(try sender.end(with: SIGINT).status.isSuccess, "\(sender.transcript)")
    #expect(try viewer.finish().status.isSuccess, "\(viewer.transcript)")
  }
}
