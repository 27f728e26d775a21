import Foundation
import Platform
import SharedDefaults
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

  @Test func cameraIsShownOnlyWithConsentThatNamesIt() throws {
    try withWatchdog {
      let arguments = start + ["--source", "camera:/dev/video0"]
      let result = try onTerminal("no", arguments)
      #expect(
        result.output.contains("What your camera sees is shown to others"), "\(result.output)")
      #expect(result.output.contains("source: camera:/dev/video0"), "\(result.output)")
      #expect(try scene.controller.status.ending == .cancelled)
    }
  }

  @Test(arguments: ["no", "", "yesno", "y"])
  func broadcastThatIsNotAgreedToStartsNothing(answer: String) throws {
    try withWatchdog {
      let result = try onTerminal(answer, start + ending)
      #expect(result.status == .exited(1), "\(result.output)")
      #expect(result.output.contains("cancelled"))
      #expect(try scene.controller.status.ending == .cancelled)
      #expect(try scene.log().isEmpty)
    }
  }

  /// Two lines are typed at the first question; the second was not asked yet.
  @Test func answerTypedAheadAgreesToNothing() throws {
    try withWatchdog {
      let result = try run(
        "/usr/bin/python3",
        [tool("type_answer.py"), "Which extension?", "2\nyes", "Start this broadcast?", "no", "--"]
          + [pathOfProgram("framebus")] + location + ["broadcast", "start"] + ending)
      #expect(result.status == .exited(1), "\(result.output)")
      #expect(try scene.controller.status.ending == .cancelled)
    }
  }

  /// Even for a test pattern: the server learns the token.
  @Test func serverOfSettingIsPartOfConsent() throws {
    let settings = try SharedDefaults(in: scene.group)
    try settings.set("https://live.example.com/studio?key=s3cret", forKey: "whipURL")
    var request = BroadcastRequest(extensionID: ExtensionManifest.whipID, source: "test")
    request.soundSources = [:]
    func refusal() -> BroadcastError? {
      do throws(BroadcastError) { _ = try scene.controller.start(request) } catch { return error }
      return nil
    }
    // An application that has shown nothing.
    #expect(refusal() == .server(.unnamed(origin: "https://live.example.com")))
    request.consentGiver = nil
    guard case .consentRequired(let shown)? = refusal() else {
      Issue.record("nobody was asked")
      return
    }
    #expect(
      shown.choices.contains {
        $0.name == "uploads to" && $0.value == "https://live.example.com/studio?…"
      }, "\(shown.choices)")
    // A member writes the setting while the user reads; the key is not even shown.
    (request.consentGiver, request.agreed) = (.terminal, shown)
    for address in ["https://evil.example.com/studio", "https://live.example.com/studio?key=x"] {
      try settings.set(address, forKey: "whipURL")
      guard case .consentRequired(let now)? = refusal() else {
        Issue.record("\(address) was agreed to")
        return
      }
      #expect(now != shown)
    }
    #expect(try scene.controller.status.phase == .idle)
  }

  /// A member changes a setting, and the owner the manifest, while the user reads.
  @Test func whatHasChangedSinceItWasShownIsShownAgain() throws {
    try withWatchdog {
      var request = BroadcastRequest(extensionID: "framebus.upload", source: "screen:99")
      request.consentGiver = nil
      func shown() throws -> BroadcastConsent? {
        do throws(BroadcastError) { _ = try scene.controller.start(request) } catch {
          guard case .consentRequired(let consent) = error else { throw error }
          return consent
        }
        return nil
      }
      let first = try #require(try shown())
      request.consentGiver = .application
      request.agreed = first
      let setting = ["defaults", "write", "\(scene.group.id)", "protectedWindows"]
      try output(of: "framebus", setting + ["[\"secret\"]", "--type", "json"] + location)
      let second = try #require(try shown())
      #expect(second.choices.contains { $0.value == "marked windows, secret" }, "\(second)")
      request.agreed = second
      // Only an argument differs, which no choice shows.
      var manifest = try ExtensionRegistry(scene.group).manifest(of: "framebus.upload")
      manifest.arguments.append("--quiet")
      try ExtensionRegistry(scene.group).register(manifest)
      let third = try #require(try shown())
      #expect(third.choices == second.choices && third != second)
      #expect(try scene.controller.status.phase == .idle)
    }
  }

  /// The same on a terminal: the question is asked again.
  @Test func userIsAskedAgainAboutWhatHasChanged() throws {
    try withWatchdog {
      let change = [
        try pathOfProgram("framebus"), "extension", "register", "--builtin", "null", "--samples",
        "video",
      ]
      let result = try run(
        "/usr/bin/python3",
        [tool("type_answer.py"), "Start this broadcast?", "yes"]
          + ["Start this broadcast?", "no", "--", pathOfProgram("framebus")] + start + ending,
        environment: ["BEFORE_FIRST_ANSWER": (change + location).joined(separator: " ")])
      #expect(result.status == .exited(1), "\(result.output)")
      #expect(result.output.contains("sound: audio-app"), "\(result.output)")
      #expect(result.output.contains("This has changed meanwhile."), "\(result.output)")
      #expect(result.output.contains("sound: none"), "\(result.output)")
      #expect(try scene.controller.status.ending == .cancelled)
    }
  }

  @Test func consentNamesDestinationWithoutItsSecret() throws {
    let request = BroadcastRequest(extensionID: "", source: "gst:rtspsrc user-pw=s3cret ! fake")
    for (destination, shown) in [
      ("whip:https://live.example.com/studio?key=s3cret", "https://live.example.com/studio?…"),
      ("rtmp://live.example.com/app/s3cret", "rtmp://live.example.com/…"),
      ("file:/tmp/out.mkv", "file:/tmp/out.mkv"),
    ] {
      let manifest = try ExtensionManifest.builtin(id: "up", destination: destination)
      var asked = request
      asked.destination = try BroadcastDestination(of: manifest, agreed: nil, in: scene.group)
      let consent = BroadcastConsent(to: asked, for: manifest)
      #expect(consent.choices.contains { $0.name == "uploads to" && $0.value == shown })
      #expect(!"\(consent.choices) \(consent.logged(by: nil))".contains("s3cret"))
    }
    // A program of that name elsewhere, and an option's value that looks like a destination.
    func shown(_ executable: String, _ arguments: [String]) throws -> String? {
      var manifest = ExtensionManifest(id: "up", executable: executable)
      manifest.arguments = arguments
      return try BroadcastDestination(of: manifest, agreed: nil, in: scene.group)?.shown
    }
    let uploader = try pathOfProgram("framebus-upload")
    let file = "file:/tmp/out.mkv"
    #expect(try shown(uploader, [file]) == file)
    #expect(try shown("/tmp/framebus-upload", [file]) == nil)
    for name in ["null", "whip"] {
      #expect(try shown("framebus-upload", ["--stream", name, file]) == "\(name) and \(file)")
    }
    var options = SessionOptions(request)
    options.soundSources[.audioMic] = "gst:rtspsrc user-pw=s3cret"
    #expect(!"\(options.shown)".contains("s3cret"))
    // Sources that differ in what is not shown are other sources.
    var other = request
    other.soundSources[.audioMic] = "gst:rtspsrc user-pw=other"
    let differences = try options.differences(to: other)
    #expect(differences.map(\.option) == ["mic-source"])
    #expect(!"\(differences)".contains("s3cret"))
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
