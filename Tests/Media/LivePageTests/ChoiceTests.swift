#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// `framebus view --also`: the streams that viewers may choose, without a browser.
  @Suite struct ChoiceTests {
    private let root: TemporaryRoot
    private let offer = ViewTests.offer("H264")

    init() throws { root = try TemporaryRoot() }

    private func post(
      _ view: ViewProgram, _ path: String
    ) throws -> (status: String, answer: String) {
      try view.ask(path, "-H", "Content-Type: application/sdp", "--data-binary", offer)
    }

    @Test func onlyNamedStreamsAreShownAndListed() throws {
      let view = try ViewProgram(root, ["screen", "audio.app", "--also=window.*", "--also=camera"])
      let publishers = try ["window.1", "window.2", "camera", "camera.2", "secret"].map {
        try root.framebus("capture", "test", "--size=64x48", "--stream=\($0)")
      }
      let tone = try root.framebus("capture", "tone:440", "--stream=window.tone")
      let expected = ["camera", "window.1", "window.2"]
      try waitUntil("all are listed") { try view.figures().streams == expected }
      #expect(try view.figures(of: "camera").streams == expected)
      for name in ["secret", "camera.2", "audio.app", "window.%2f", "", "window./x/y"] {
        #expect(try post(view, "stream/\(name)").status == "404", "\(name)")
        #expect(try view.ask("figures/\(name)").status == "404", "\(name)")
      }
      // One that has no publisher yet may be awaited.
      let viewer = try view.admit(offer, of: "window.9")
      #expect(try view.figures(of: "window.9").viewers == 1 && view.figures().viewers == 0)
      let elsewhere = viewer.replacing("window.9", with: "camera")
      #expect(try view.ask(elsewhere, "-X", "DELETE").status == "404")
      #expect(try view.ask(viewer, "-X", "DELETE").status == "200")
      for publisher in publishers + [tone] { try publisher.end(with: SIGTERM) }
      let result = try view.program.end(with: SIGTERM)
      #expect(result.status == .exited(0) && result.output.contains("\"viewers\":1"))
    }

    @Test func withoutTheOptionThereIsNoChoice() throws {
      let view = try ViewProgram(root)
      let capture = try root.framebus("capture", "test", "--size=64x48", "--stream=window.1")
      #expect(try view.figures().streams == nil)
      for path in ["stream/window.1", "stream/screen"] {
        #expect(try post(view, path).status == "404")
      }
      try capture.end(with: SIGTERM)
      try view.program.end(with: SIGTERM)
    }

    /// All streams together have as many viewers as `--viewers` says, so as many encoders.
    @Test func viewersAreCountedOverAllStreamsAndUnwatchedOnesAreForgotten() throws {
      let view = try ViewProgram(root, ["--also=*", "--viewers=1"])
      let first = try view.admit(offer)
      #expect(try post(view, "stream/s1").status == "503")
      #expect(try view.ask(first, "-X", "DELETE").status == "200")
      func choose(_ names: ClosedRange<Int>) throws {
        for number in names {
          let viewer = try view.admit(offer, of: "s\(number)")
          #expect(try post(view, "whep").status == "503")
          #expect(try view.ask(viewer, "-X", "DELETE").status == "200")
        }
      }
      let facts = ProcessFacts(view.program.processID)
      try choose(1...3)
      let threads = try facts.threadCount
      try choose(4...12)
      try waitUntil("the threads of nine streams have ended") { try facts.threadCount <= threads }
      let result = try view.program.end(with: SIGTERM)
      #expect(result.status == .exited(0) && result.output.contains("\"viewers\":13"))
    }

    @Test(
      arguments: [
        ["--also=Window*"], ["--also=a b"], ["--also="], ["whep:https://h/", "--also=screen"],
      ])
    func invalidPatternsAreUsageErrors(arguments: [String]) throws {
      let result = try run(
        "framebus", ["view"] + arguments, environment: ["FRAMEBUS_HOME": root.path])
      #expect(result.status == .exited(2) && result.errors.hasPrefix("error: "), "\(result.errors)")
    }
  }
#endif
