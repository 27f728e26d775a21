import FrameBus
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// The name of an application that publishes its own frames, on its stream: there is no capture
/// that could set it.
@Suite struct StreamAnnotationTests {
  private let scene: BroadcastScene

  init() throws { scene = try BroadcastScene(source: "stream:game") }

  private func application() throws -> RunningProgram {
    let program = try RunningProgram(
      "BroadcastWorker", ["publish", scene.root.path, "\(scene.group.id)", "game"])
    try program.waitForOutput("publishes")
    return program
  }

  private func annotate(_ name: String) throws {
    let location = ["--root", scene.root.path, "--group", "\(scene.group.id)"]
    let result = try run("framebus", location + ["broadcast", "annotate", name])
    #expect(result.status.isSuccess, "\(result.errors)")
  }

  private func listed() throws -> String? {
    try listStreams(in: scene.group).first { $0.name.text == "game" }?.application?.text
  }

  @Test func annotatedApplicationReachesTheStreamOfTheApplication() throws {
    try withWatchdog {
      let session = try scene.start()
      // Before there is a stream.
      try annotate("org.example.game")
      let first = try application()
      try waitUntil("the stream has the name") { try listed() == "org.example.game" }
      try annotate("org.example.level2")
      try waitUntil("the stream has the next") { try listed() == "org.example.level2" }
      try scene.events.wait(for: .live)
      _ = try first.end(with: Signal.kill)
      try scene.events.wait(for: .paused([.captureLost]))
      // It ended with its publisher.
      let second = try application()
      try scene.events.wait(for: .resumed)
      #expect(try listed() == nil)
      try annotate("org.example.level3")
      try waitUntil("the successor has it") { try listed() == "org.example.level3" }
      try waitUntil("the extension too") {
        scene.trace.contains("annotated org.example.level3")
      }
      #expect(try scene.finish(session) == .finished)
      #expect(try scene.controller.status.applicationID == "org.example.level3")
      _ = try second.end(with: Signal.terminate)
    }
  }

  /// Any publishing member can write the record.
  @Test func malformedNameInTheRecordIsNotPassedOn() throws {
    try withWatchdog {
      let application = try application()
      let session = try scene.start()
      try scene.events.wait(for: .live)
      for name in ["a\u{1b}[2J", "good"] {
        _ = try scene.controller.changeActiveRecord { $0.undeliveredApplication = name }
      }
      try waitUntil("the next is passed on") { try listed() == "good" }
      #expect(try scene.finish(session) == .finished)
      _ = try application.end(with: Signal.terminate)
    }
  }

  /// Its host goes on meanwhile: the extension is restarted. The application would be waited for
  /// longer than the test.
  @Test func nameReachesAnApplicationThatWasStopped() throws {
    try withWatchdog {
      var request = scene.request
      request.answerTimeout = .seconds(3600)
      let application = try application()
      let session = try scene.controller.start(request).session
      try scene.events.wait(for: .live)
      application.process.send(signal: Signal.stop)
      for name in ["org.example.one", "org.example.two"] { try annotate(name) }
      try scene.kill(.extension)
      try scene.events.wait(for: .roleRestarted(.extension))
      application.process.send(signal: Signal.continue)
      try waitUntil("the newest name is there") { try listed() == "org.example.two" }
      #expect(try scene.finish(session) == .finished)
      _ = try application.end(with: Signal.terminate)
    }
  }
}
