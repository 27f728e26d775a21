import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

@testable import Broadcast

/// Nothing of a user's is shown to others before somebody has agreed to it.
@Suite struct ConsentTests {
  private let scene: BroadcastScene
  private let location: [String]
  /// A source that ends by itself, with the sound of the machine.
  private let ending: [String]

  init() throws {
    scene = try BroadcastScene()
    location = ["--root", scene.root.path, "--group", "\(scene.group.id)"]
    try output(of: "framebus", location + ["extension", "register", "--builtin", "null"])
    let path = scene.root.file("short.y4m")
    let picture = "FRAME\n" + String(repeating: "a", count: 6)
    try Data(("YUV4MPEG2 W2 H2 F25:1\n" + picture + picture).utf8).write(to: URL(filePath: path))
    ending = ["--source", "y4m:\(path)"]
  }

  private var start: [String] { location + ["broadcast", "start", "framebus.upload"] }

  /// Runs the program on a terminal, and types an answer to the question.
  private func onTerminal(_ answer: String, _ arguments: [String]) throws -> ProgramResult {
    try run(
      "/usr/bin/python3",
      [tool("type_answer.py"), "Start this broadcast?", answer, "--"]
        + [pathOfProgram("framebus")] + arguments, environment: ["PULSE_SERVER": "unix:/none"])
  }

  /// The lines of the log by label, in the order of time.
  private func log(_ label: String) throws -> [LogRecord] {
    try scene.log().filter { $0.label == label }
  }

  @Test func userAgreesOnATerminalToWhatIsShown() throws {
    try withWatchdog {
      let result = try onTerminal("yes", start + ending)
      #expect(result.status == .exited(0), "\(result.output)")
      for text in [
        "shown to others while this broadcast lasts. They hear the sound of your applications.",
        "source: y4m:\(scene.root.path)", "extension: framebus.upload (framebus-upload)",
        "sound: audio-app of pulse:monitor", "sandbox: on",
      ] { #expect(result.output.contains(text), "\(result.output)") }
      let consents = try log("broadcast.consent")
      #expect(consents.count == 1)
      let fields = try #require(consents.first).metadata
      #expect(fields.contains { $0.key == "by" && $0.value == "terminal" }, "\(fields)")
      #expect(fields.contains { $0.key == "source" && $0.value == ending[1] }, "\(fields)")
    }
  }

  @Test(arguments: ["no", "", "yesno"])
  func broadcastThatIsNotAgreedToStartsNothing(answer: String) throws {
    try withWatchdog {
      let result = try onTerminal(answer, start + ending)
      #expect(result.status == .exited(1), "\(result.output)")
      #expect(result.output.contains("cancelled"))
      #expect(try scene.controller.status.ending == .cancelled)
      #expect(try scene.log().isEmpty)
    }
  }

  @Test func scriptMustAgreeByAnOption() throws {
    try withWatchdog {
      for source in [["--source", "screen:99"], ending] {
        let refused = try run("framebus", start + source)
        #expect(refused.status == .exited(2))
        #expect(refused.errors.hasPrefix("error: nobody has agreed to this broadcast: “"))
        #expect(refused.errors.contains("--yes"), "\(refused.errors)")
        #expect(try scene.controller.status.phase == .idle)
      }
      let agreed = try run(
        "framebus", start + ending + ["--yes", "--consent", "Only a film."],
        environment: ["PULSE_SERVER": "unix:/none"])
      #expect(agreed.status == .exited(0), "\(agreed.errors)")
      let consents = try log("broadcast.consent")
      #expect(consents.map(\.message) == ["Only a film."])
      let fields = try #require(consents.first).metadata
      #expect(fields.contains { $0.key == "by" && $0.value == "--yes" }, "\(fields)")
    }
  }

  @Test func screenIsNamedWithNotifications() throws {
    let result = try run("framebus", start + ["--source", "screen:99", "--mic", "on"])
    let text =
      "Everything on your screen, including notifications, is shown to others while this broadcast"
      + " lasts. They hear the sound of your applications and your microphone."
    #expect(result.errors.contains(text), "\(result.errors)")
  }

  /// A test pattern, a tone and a file show nothing of the user's.
  @Test func madeUpSourcesNeedNoConsent() throws {
    try withWatchdog {
      let sound = ["--app-source", "tone:440", "--mic-source", "tone:880"]
      let result = try run("framebus", start + ending + sound)
      #expect(result.status == .exited(0), "\(result.errors)")
    }
  }

  @Test func joiningASessionNeedsNoSecondConsent() throws {
    try withWatchdog {
      let host = try RunningProgram(
        "framebus", start + ["--yes", "--source", "test:gradient", "--size", "64x48"],
        environment: ["PULSE_SERVER": "unix:/none"])
      try host.waitForErrors("live")
      let joined = try RunningProgram("framebus", start + ["--source", "test:gradient"])
      try joined.waitForErrors("is already active; following it")
      #expect(try joined.end(with: Signal.interrupt).status == .exited(130))
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
      #expect(try log("broadcast.consent").count == 1)
    }
  }
}
