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

  @Test func applicationThatIsGoneIsAWarning() throws {
    try withWatchdog {
      try scene.register(
        ["fail=signIn"], manifest: #"application = ["\#(scene.root.file("gone"))"]"#)
      let result = try run("framebus", command + ["--go-to-application"])
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("error: the broadcast failed: WHIP 401"))
      #expect(
        result.errors.hasSuffix(
          "warning: cannot run `\(scene.root.file("gone"))`: No such file or directory; correct"
            + " application in the extension's manifest\n"), "\(result.errors)")
    }
  }

  /// It is the user's program: the end of the wait does not end it.
  @Test(arguments: [Signal.interrupt, Signal.terminate])
  func applicationThatHangsHoldsNoHost(signal: Int32) throws {
    try withWatchdog {
      let script = "echo $$ > \(scene.root.file("pid")); exec sleep 600 > /dev/null 2>&1"
      try scene.register(
        ["fail=signIn"], manifest: "application = [\"setsid\", \"sh\", \"-c\", \"\(script)\"]")
      let host = try RunningProgram("framebus", command + ["--go-to-application"])
      var found: Int32?
      try waitUntil("the application runs: \(host.transcript)") {
        let text = try? String(contentsOfFile: scene.root.file("pid"), encoding: .utf8)
        found = text.flatMap { Int32($0.prefix { $0.isNumber }) }
        return found != nil
      }
      guard let found, let application = ProcessWatch(found) else {
        throw HarnessError("the application is gone")
      }
      #expect(try host.end(with: signal).status == .exited(1), "\(host.transcript)")
      let hasEnded = try application.waitForEnd(until: .now)
      #expect(!hasEnded)
      application.send(signal: Signal.kill)
    }
  }

  @Test func optionRunsItWithoutQuestion() throws {
    try withWatchdog {
      let result = try run("framebus", command + ["--go-to-application"])
      #expect(result.status == .exited(1) && hasRun, "\(result.errors)")
    }
  }
}
