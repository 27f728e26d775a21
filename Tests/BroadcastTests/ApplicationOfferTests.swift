import Foundation
import Platform
import TestSupport
import Testing

/// After a failure, a host offers the application that the manifest names.
@Suite struct ApplicationOfferTests {
  private let scene: BroadcastScene

  init() throws {
    scene = try BroadcastScene(["fail=signIn"])
    try scene.register(
      ["fail=signIn"],
      manifest: #"application = ["touch", "\#(scene.root.file("signed-in"))"]"#)
  }

  private var command: [String] {
    [
      "--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "start",
      BroadcastScene.extensionID, "--source", scene.source,
    ]
  }

  private var hasRun: Bool {
    FileManager.default.fileExists(atPath: scene.root.file("signed-in"))
  }

  @Test func withoutTerminalItIsOnlyNamed() throws {
    try withWatchdog {
      let result = try run("framebus", command)
      #expect(result.status == .exited(1) && !hasRun)
      let lines = result.errors.split(separator: "\n").suffix(2)
      #expect(
        lines.first == "error: the broadcast failed: WHIP 401: Not Logged In (Go to Application)")
      #expect(
        lines.last == "go to its application with `touch \(scene.root.file("signed-in"))`")
    }
  }

  @Test(arguments: [("y", true), ("n", false), ("", false)])
  func onTerminalItRunsOnlyIfUserAgrees(answer: String, runs: Bool) throws {
    try withWatchdog {
      let asked = try run(
        "python3",
        [tool("type_answer.py"), "Enter y to run it.", answer, "--", pathOfProgram("framebus")]
          + command)
      #expect(asked.status == .exited(1) && hasRun == runs, "\(asked.output)")
      #expect(asked.output.contains("WHIP 401: Not Logged In"))
    }
  }

  @Test func optionRunsItWithoutQuestion() throws {
    try withWatchdog {
      let result = try run("framebus", command + ["--go-to-application"])
      #expect(result.status == .exited(1) && hasRun, "\(result.errors)")
    }
  }
}
