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

  /// The bytes of one frame, as the command line receives them.
  private func frame(of stream: String) throws -> [UInt8]? {
    let player = try RunningProgram(
      "framebus", ["play", stream, "--raw", "--frames", "1", "--root", scene.root.path])
    return try player.finish().status.isSuccess ? player.output.bytes : nil
  }

  private func waitForBytes(
    _ expected: [UInt8], at places: [Int], of count: Int, stream: String = "obs"
  ) throws {
    var last: [UInt8] = []
    try waitUntil("\(stream) shows \(expected), not \(last)") {
      guard let bytes = try frame(of: stream), bytes.count == count else { return false }
      last = places.map { bytes[$0] }
      return zip(last, expected).allSatisfy { abs(Int($0) - Int($1)) <= 3 }
    }
  }

  /// Luma and both chromas by BT.709 with video levels, as OBS is set.
  private static func yuv(_ r: Double, _ g: Double, _ b: Double) -> [UInt8] {
    let luma = (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255
    let u = (b / 255 - luma) / 1.8556
    let v = (r / 255 - luma) / 1.5748
    return [16 + 219 * luma, 128 + 224 * u, 128 + 224 * v].map { UInt8($0.rounded()) }
  }

  @Test(arguments: ["BGRA", "NV12", "I420", "I444"])
  func subscribersReceiveWhatOBSDraws(format: String) throws {
    try obs.do("reset 320x240 \(format)")
    #expect(try obs.do("output obs").contains("started\n"))
    let pixels = 320 * 240
    for color in [[192, 128, 64], [16, 32, 240]] as [[UInt8]] {
      try obs.do("paint " + color.map { String(Int($0) + 256, radix: 16).suffix(2) }.joined())
      let yuv = Self.yuv(Double(color[0]), Double(color[1]), Double(color[2]))
      switch format {
      case "BGRA": try waitForBytes(color.reversed(), at: [0, 1, 2], of: pixels * 4)
      case "NV12": try waitForBytes(yuv, at: [0, pixels, pixels + 1], of: pixels * 3 / 2)
      case "I420": try waitForBytes(yuv, at: [0, pixels, pixels * 5 / 4], of: pixels * 3 / 2)
      default: try waitForBytes(yuv, at: [0, pixels, pixels * 2], of: pixels * 3)
      }
    }
    let code = ["BGRA": "XR24", "NV12": "NV12", "I420": "YU12", "I444": "YU24"]
    let streams = try scene.framebus("streams").output
    #expect(streams.contains(try #require(code[format])), "\(streams)")
    #expect(try obs.do("stop").contains("dropped 0\n"))
    try obs.finish()
  }

  @Test func sizeFormatAndNameChangeBetweenTwoStarts() throws {
    // The first row's first byte, and the size of a frame with rows padded to four bytes.
    for (size, format, stream, byte, count) in [
      ("320x240", "NV12", "one", 173, 115_200), ("200x150", "BGRA", "one", 0, 120_000),
      ("324x242", "I420", "two", 173, 324 * 242 + 2 * 164 * 121),
    ] {
      try obs.do("reset \(size) \(format)")
      #expect(try obs.do("output \(stream)").contains("started\n"))
      try obs.do("paint 00ff00")
      try waitForBytes([UInt8(byte)], at: [0], of: count, stream: stream)
      #expect(
        try scene.framebus("streams").output.contains(size.replacing("x", with: "×")))
      try obs.do("stop")
      #expect(try !scene.framebus("streams").output.contains(stream))
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
    try waitForBytes([0, 0, 255], at: [0, 1, 2], of: 320 * 240 * 4)
    try second.finish()
  }
}
