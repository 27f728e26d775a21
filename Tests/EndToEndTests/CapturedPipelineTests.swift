import Foundation
import Platform
import TestSupport
import Testing

/// `framebus.captured` while GStreamer, or a program that writes raw video, reads a screen.
@Suite struct CapturedPipelineTests {
  private let scene: Scene

  init() throws { scene = try Scene() }

  private func state() throws -> String {
    try scene.run("notify", "state", "framebus.captured").output
  }

  /// The states before, while and after a subscriber receives the stream of a capture.
  private func states(of source: String, _ options: [String]) throws -> [String] {
    let capture = try scene.start(["capture", source] + options)
    _ = try scene.waitForStream("the capture publishes") { _ in true }
    var states = [try state()]
    let upload = try scene.start("upload", "null")
    _ = try scene.waitForStream("frames arrive") { $0.published > 0 && !$0.subscribers.isEmpty }
    states.append(try state())
    _ = try upload.end(with: SIGKILL)
    _ = try scene.waitForStream("nobody subscribes") { $0.subscribers.isEmpty }
    states.append(try state())
    _ = try capture.end(with: SIGTERM)
    return states
  }

  @Test(arguments: [(false, nil, true), (true, nil, true), (false, "other", false)])
  func pipelineThatReadsAScreenCounts(
    isInBin: Bool, content: String?, counts: Bool
  ) throws {
    try withWatchdog {
      let screen = try VirtualScreen(width: 320, height: 180)
      let element = "ximagesrc display-name=\(screen.display) use-damage=false"
      let source = isInBin ? "( \(element) ! identity )" : element
      let options = content.map { ["--content", $0] } ?? []
      let states = try states(of: "gst:\(source) ! video/x-raw,framerate=20/1", options)
      #expect(states == ["0\n", counts ? "1\n" : "0\n", "0\n"])
    }
  }

  @Test(arguments: [nil, "window"])
  func otherPipelineCountsIfItsUserSaysSo(content: String?) throws {
    try withWatchdog {
      let source = "gst:videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=20/1"
      let states = try states(of: source, content.map { ["--content", $0] } ?? [])
      #expect(states == ["0\n", content == nil ? "0\n" : "1\n", "0\n"])
    }
  }

  @Test func rawVideoOfAScreenCountsIfItsUserSaysSo() throws {
    try withWatchdog {
      let (path, pipe) = (scene.file("screen.y4m"), scene.file("pipe"))
      let frame = "FRAME\n" + String(repeating: "a", count: 64 * 48 * 3 / 2)
      let video = "YUV4MPEG2 W64 H48 F1:1 C420\n" + String(repeating: frame, count: 3)
      try video.write(toFile: path, atomically: true, encoding: .utf8)
      try output(of: "mkfifo", [pipe])
      // Never ends.
      let writer = try RunningProgram(
        "/bin/sh", ["-c", "exec tail -n +1 -f '\(path)' > '\(pipe)'"])
      #expect(try states(of: "y4m:\(pipe)", ["--content", "screen"]) == ["0\n", "1\n", "0\n"])
      withExtendedLifetime(writer) {}
    }
  }
}
