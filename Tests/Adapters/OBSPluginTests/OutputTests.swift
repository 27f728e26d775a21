import Foundation
import Platform
import TestSupport
import Testing

/// What others receive of what OBS draws and plays.
@Suite(.serialized, .enabled(if: OBSPlugin.canBeBuilt, Comment(rawValue: OBSPlugin.missing)))
struct OutputTests {
  private let scene: OBSScene
  private var obs: OBSProgram { scene.obs }
  init() throws { scene = try OBSScene() }

  /// Size and middle colour of a picture that `framebus snapshot` took.
  private func snapshot(of stream: String) throws -> (size: String, color: [Int])? {
    let path = scene.file("snapshot.png")
    guard try scene.framebus("snapshot", stream, path).status.isSuccess else { return nil }
    let facts = try output(
      of: "convert",
      [
        path, "-depth", "8", "-format",
        "%wx%h %[fx:int(255*p{20,20}.r+.5)] "
          + "%[fx:int(255*p{20,20}.g+.5)] %[fx:int(255*p{20,20}.b+.5)]", "info:",
      ])
    let words = facts.split(separator: " ").map(String.init)
    return (words[0], words.dropFirst().compactMap { Int($0) })
  }

  private func waitForColor(_ color: [Int], size: String, of stream: String = "obs") throws {
    var last = ""
    try waitUntil("\(stream) shows \(color) \(size), not \(last)") {
      guard let seen = try snapshot(of: stream) else { return false }
      last = "\(seen)"
      return seen.size == size && zip(seen.color, color).allSatisfy { abs($0 - $1) <= 6 }
    }
  }

  @Test(arguments: ["BGRA", "RGBA", "NV12", "I420", "I444"])
  func snapshotsShowWhatOBSDraws(format: String) throws {
    try obs.do("reset 320x240 \(format)")
    #expect(try obs.do("output obs").contains("started\n"))
    for (color, expected) in [("c08040", [192, 128, 64]), ("1020f0", [16, 32, 240])] {
      try obs.do("paint \(color)")
      try waitForColor(expected, size: "320x240")
    }
    let code = ["BGRA": "XR24", "RGBA": "XB24", "NV12": "NV12", "I420": "YU12", "I444": "YU24"]
    let streams = try scene.framebus("streams").output
    #expect(streams.contains(try #require(code[format])), "\(streams)")
    #expect(try obs.do("stop").contains("dropped 0\n"))
    try obs.finish()
  }

  @Test func sizeFormatAndNameChangeBetweenTwoStarts() throws {
    for (size, format, stream) in [
      ("320x240", "NV12", "one"), ("200x150", "BGRA", "one"), ("322x242", "I420", "two"),
    ] {
      try obs.do("reset \(size) \(format)")
      #expect(try obs.do("output \(stream)").contains("started\n"))
      try obs.do("paint 00ff00")
      try waitForColor([0, 255, 0], size: size, of: stream)
      try obs.do("stop")
      #expect(try scene.framebus("streams").output.contains("no stream"))
    }
    try obs.finish()
  }

  @Test func refusedStartSaysTheCauseAndTheRemedy() throws {
    let publisher = try scene.publish("XR24 64 48 RGBW", as: "obs")
    #expect(
      try obs.do("output obs").contains("refused: stream “obs” already has a publisher; stop"))
    #expect(try obs.do("output Obs").contains("is not allowed; use a–z"))
    _ = try publisher.program.end(with: SIGTERM)
    #expect(try obs.do("output obs").contains("started\n"))
    try obs.do("stop")
    try obs.finish()
  }

  @Test func nothingIsCopiedForNobody() throws {
    try obs.do("output obs")
    try obs.do("paint ffffff")
    try obs.do("picture WWWW")
    #expect(try obs.do("stop").contains("bytes 0 dropped 0\n"))
    try obs.finish()
  }

  @Test func oneOBSPlaysAndDrawsWhatAnotherPublishes() throws {
    let tone = try scene.publishTone(as: "tone")
    try obs.do("source none tone")
    #expect(try obs.do("output obs obs.sound").contains("started\n"))
    let second = try OBSProgram(scene.plugin, root: scene.root.path)
    try second.do("source obs obs.sound")
    try second.do("tone")
    try obs.do("paint 0000ff")
    try second.do("picture BBBB")
    _ = try tone.end(with: SIGTERM)
    try second.do("silence")
    try obs.do("stop")
    try second.do("picture KKKK")
    try second.finish()
    try obs.finish()
  }

  @Test func killedOBSLeavesTheNameFree() throws {
    try obs.do("output obs")
    _ = try obs.driven.program.end(with: SIGKILL)
    let second = try OBSProgram(scene.plugin, root: scene.root.path)
    #expect(try second.do("output obs").contains("started\n"))
    try second.do("paint ff0000")
    try waitForColor([255, 0, 0], size: "320x240")
    try second.finish()
  }
}
