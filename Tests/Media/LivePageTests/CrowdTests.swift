#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Viewers that come and go, fall behind, or send unrequested media: aiortc, in processes that
  /// the test controls.
  @Suite(.serialized) struct CrowdTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    // MARK: Requests and media of viewers

    @Test func keyFrameRequestedByFIRIsSent() throws {
      let view = try ViewProgram(root)
      let capture = try root.capture()
      let viewer = try Viewer(of: view, "fir=30")
      try viewer.waitForFrames(160)
      try viewer.leave()
      let keys = viewer.numbers("key ")
      // Without requests, one in 120 is a key frame.
      let steps = zip(keys, keys.dropFirst()).map { $1 - $0 }
      #expect(keys.count >= 4 && steps.allSatisfy { $0 < 120 }, "\(keys)")
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    @Test func viewerThatSendsMediaIsServedAsOthers() throws {
      let view = try ViewProgram(root, ["screen", "audio.app"])
      let capture = try root.capture()
      let tone = try root.framebus("capture", "tone:440")
      let watches = try Viewer(of: view, "sends=yes")
      let listens = try Viewer(of: view, "media=audio", "sends=yes")
      try watches.waitForFrames(100)
      try waitUntil("440 Hz") {
        listens.numbers("sound ", as: Double.self).contains { abs($0 - 440) < 1 }
      }
      for viewer in [watches, listens] {
        try viewer.leave()
        #expect(viewer.lines("answer ") == ["answer a=sendonly"])
        #expect(viewer.numbers("sent ").allSatisfy { $0 > 20 }, "\(viewer.lines("sent "))")
      }
      try view.program.end(with: SIGTERM)
      try tone.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    // MARK: Falling behind

    @Test func stoppedViewerDoesNotAffectOthersAndResumes() throws {
      let view = try ViewProgram(root)
      let capture = try root.capture()
      let (slow, quick) = (try Viewer(of: view), try Viewer(of: view))
      try slow.waitForFrames(30)
      try quick.waitForFrames(30)
      slow.program.process.send(signal: SIGSTOP)
      let before = quick.numbers("number ").count
      // Less than the ten seconds after which a silent viewer is removed.
      try quick.waitForFrames(before + 150)
      let seen = slow.numbers("number ").last ?? 0
      slow.program.process.send(signal: SIGCONT)
      try slow.waitForFrames(slow.numbers("number ").count + 60)
      try waitUntil("the viewer has caught up") {
        (slow.numbers("number ").last ?? 0) >= seen + 150
      }
      let numbers = quick.numbers("number ").dropFirst(before)
      let steps = zip(numbers, numbers.dropFirst()).map { $1 - $0 }
      // Measured in the pattern's own time, because the machine may be busy. A key frame that a
      // viewer requests may be a picture that was sent before.
      #expect(steps.allSatisfy { $0 >= 0 && $0 < 30 }, "\(steps)")
      try slow.leave()
      try quick.leave()
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    // MARK: Resources

    /// Without viewers, the program uses what it used after the first viewer.
    @Test func departedViewersLeaveNoResources() throws {
      let view = try ViewProgram(root)
      let capture = try root.capture()
      let facts = ProcessFacts(view.program.processID)
      func watch(times: Int) throws -> Int {
        let viewers = try (0..<2).map { _ in try Viewer(of: view, "visits=\(times)") }
        for viewer in viewers {
          #expect(try viewer.program.finish().status == .exited(0), "\(viewer.program.transcript)")
          #expect(viewer.lines("DELETE 200").count == times)
        }
        try waitUntilNobodyReads()
        return Int(privateMemoryBytes(of: view.program.processID) ?? 0)
      }
      _ = try watch(times: 1)
      let (threads, descriptors) = (try facts.threadCount, try facts.descriptorCount)
      var early = try watch(times: 6)
      var late = try watch(times: 6)
      // malloc's arenas grow with the largest number of simultaneous threads, and not after that.
      for _ in 0..<2 where late >= early + early / 4 {
        (early, late) = (late, try watch(times: 6))
      }
      #expect(late < early + early / 4, "\(early) bytes, and then \(late)")
      try waitUntil("threads and descriptors are freed") {
        try facts.threadCount <= threads && facts.descriptorCount <= descriptors
      }
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }

    private func waitUntilNobodyReads() throws {
      struct Stream: Decodable {
        struct Subscriber: Decodable {}
        let subscribers: [Subscriber]
      }
      try waitUntil("reading has stopped") {
        let listed = try root.framebus("streams", "--json").finish().output
        let streams = try JSONDecoder().decode([Stream].self, from: Data(listed.utf8))
        return streams.allSatisfy(\.subscribers.isEmpty)
      }
    }

    /// Each look-up would use a thread, which may never end.
    @Test func namesInCandidatesAreNotResolved() throws {
      let view = try ViewProgram(root)
      let names = (1...20).map {
        "a=candidate:\($0) 1 udp 2113937151 \(UUID()).local 9 typ host\r\n"
      }.joined()
      let viewer = try view.admit(ViewTests.offer("H264") + names)
      let (status, answer) = try view.ask(
        viewer, "-X", "PATCH", "-H", "Content-Type: application/trickle-ice-sdpfrag",
        "--data-binary", "a=mid:0\r\n" + names)
      #expect(status == "204", "\(answer)")
      // GLib keeps its threads for such work for a while. A thread that has ended has no name.
      let threads = try ProcessFacts(view.program.processID).threads.compactMap { try? $0.name }
      #expect(!threads.contains { $0.hasPrefix("pool-") }, "\(threads)")
      try view.program.end(with: SIGTERM)
    }
  }

  /// A viewer on aiortc.
  private final class Viewer {
    let program: RunningProgram

    init(of view: ViewProgram, _ settings: String...) throws {
      program = try RunningProgram(
        "/usr/bin/python3", [tool("whep_viewer.py"), view.url + "whep"] + settings)
    }

    func lines(_ prefix: String) -> [String] {
      program.output.text.completeLines(prefix).map(String.init)
    }

    /// The first number of each line that has a prefix.
    func numbers<Number: LosslessStringConvertible>(
      _ prefix: String, as type: Number.Type = Int.self
    ) -> [Number] {
      lines(prefix).compactMap { line in
        line.split(separator: " ").dropFirst().first.flatMap { Number(String($0)) }
      }
    }

    func waitForFrames(_ count: Int) throws {
      try program.waitForOutput("frame \(count) ", within: .seconds(100))
    }

    func leave() throws {
      let result = try program.end(with: SIGTERM)
      #expect(result.output.contains("DELETE 200"), "\(program.transcript)")
    }
  }
#endif
