import Capture
import Foundation
import FrameBus
import Platform
import SharedDefaults
import TestSupport
import Testing

@testable import Broadcast

/// A start of a running broadcast drops none of its options silently.
@Suite struct OtherOptionsTests {
  private let scene: BroadcastScene

  init() throws { scene = try BroadcastScene() }

  private var start: [String] {
    [
      "--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "start",
      BroadcastScene.extensionID, "--source", scene.source,
    ]
  }

  /// The host of a live broadcast.
  private func host(_ options: String...) throws -> RunningProgram {
    let host = try RunningProgram("framebus", start + options)
    try host.waitForErrors("live")
    return host
  }

  /// Joins the broadcast, and leaves it again.
  /// - Returns: what the command reported.
  private func join(_ options: String...) throws -> String {
    let second = try RunningProgram("framebus", start + options)
    try second.waitForErrors("following it")
    #expect(try second.end(with: Signal.interrupt).status == .exited(130))
    return second.errors.text
  }

  private func refusal(_ options: String...) throws -> String {
    let result = try run("framebus", start + options)
    #expect(result.status == .exited(1))
    return result.errors
  }

  @Test func otherOptionsAreRefusedWithBothValues() throws {
    try withWatchdog {
      let host = try host("--fps", "10", "--restarts", "7")
      let error = try refusal(
        "--fps", "20", "--mic", "on", "--no-confine", "--stream", "other", "--orientation", "6",
        "--restarts", "7")
      for text in [
        "fps is 10, not 20", "mic is off, not on", "confine is on, not off",
        "stream is screen, not other",
        "orientation is not set, not 6", "framebus broadcast stop", "--apply",
      ] { #expect(error.contains(text), "\(error)") }
      #expect(!error.contains("restarts"))
      #expect(try !scene.controller.sound.mic)
      // The same options, fewer and none.
      for options in [["--fps", "10"], []] {
        let second = try RunningProgram("framebus", start + options)
        try second.waitForErrors("following it")
        #expect(try second.end(with: Signal.interrupt).status == .exited(130))
      }
      #expect(try scene.controller.status.options["fps"] == "10")
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
    }
  }

  /// An option that was given counts, also if its value is the usual one.
  @Test func givenOptionsWithTheirUsualValuesAreComparedToo() throws {
    try withWatchdog {
      let own = [
        "--restarts", "3", "--app-source", "tone:300", "--mic-source", "tone:500", "--consent", "A",
      ]
      let host = try RunningProgram("framebus", start + own)
      try host.waitForErrors("live")
      for (option, usual, difference) in [
        ("--restarts", "5", "restarts is 3, not 5"),
        ("--app-source", "pulse:monitor", "app-source is tone:300, not pulse:monitor"),
        ("--mic-source", "pulse:mic", "mic-source is tone:500, not pulse:mic"),
        ("--consent", "B", "consent is A, not B"),
      ] {
        let error = try refusal(option, usual)
        #expect(error.contains("other options: \(difference); stop"), "\(error)")
      }
      for options in [own, []] {
        let second = try RunningProgram("framebus", start + options)
        try second.waitForErrors("following it")
        #expect(try second.end(with: Signal.interrupt).status == .exited(130))
      }
      // The next host restarts roles as it was told, and shows its own consent.
      _ = try host.end(with: Signal.kill)
      let next = try RunningProgram("framebus", start + own.dropFirst(2).dropLast(2))
      try next.waitForErrors("taking over")
      try waitUntil("the record has the options of the host: \(next.transcript)") {
        let options = try scene.controller.status.options
        return options["restarts"] == "5" && options["consent"] == nil
      }
      #expect(try next.end(with: Signal.interrupt).status == .exited(130))
    }
  }

  /// What the manifest prefers is recorded and shown, and so is not dropped when it is registered
  /// again without.
  @Test func preferencesOfTheManifestArePartOfTheSession() throws {
    try withWatchdog {
      let manifest = "[capture]\norientation = 6\ncursor = false"
      try scene.register([], manifest: manifest)
      let first = try host("--fps", "10")
      let options = try scene.controller.status.options
      // A test pattern has no cursor.
      #expect(options["orientation"] == "6" && options["cursor"] == nil, "\(options)")
      for options in [["--orientation", "6"], ["--orientation", "6", "--fps", "10"]] {
        let second = try RunningProgram("framebus", start + options)
        try second.waitForErrors("following it")
        #expect(try second.end(with: Signal.interrupt).status == .exited(130))
      }
      #expect(try refusal("--orientation", "1").contains("orientation is 6, not 1"))
      try scene.register([])
      _ = try first.end(with: Signal.kill)
      let second = try RunningProgram("framebus", start)
      try second.waitForErrors("taking over")
      let words = try restartedCapture(second)
      #expect(words.contains("--orientation=6") && words.contains("--fps=10"), "\(words)")
      #expect(try second.end(with: Signal.interrupt).status == .exited(130))
    }
  }

  /// Kills the capture.
  /// - Returns: the command line of the next.
  private func restartedCapture(_ host: RunningProgram) throws -> [String] {
    let pid = try scene.controller.status.pids[.capture]
    try scene.kill(.capture)
    try waitUntil("the capture is restarted: \(host.transcript)") {
      let next = try scene.controller.status.pids[.capture]
      return next != nil && next != pid
    }
    let capture = try #require(try scene.controller.status.pids[.capture])
    return try Data(contentsOf: URL(filePath: "/proc/\(capture)/cmdline"))
      .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// An option with the value that a capture has without it asks for nothing else.
  @Test func optionsThatChangeNothingAreNoDifference() throws {
    let scene = try BroadcastScene(source: "screen:99", manifest: "[capture]\nprotect = [\"a\"]")
    let manifest = try ExtensionRegistry(scene.group).manifest(of: BroadcastScene.extensionID)
    var running = SessionOptions(
      scene.request, capturing: scene.request.captureSettings(for: manifest))
    var request = scene.request
    for (option, text) in [
      (CaptureSettings.Option.fps, "30"), (.cursor, "true"), (.isolate, "false"),
      (.backend, "auto"), (.force, "false"), (.orientation, "1"), (.silence, "800"),
      (.whileSaver, "inhibit"),
    ] { try request.capture.set(option, text) }
    for rules in [[], [try WindowRule("a")], [.marked]] {
      request.capture.protection = .on(rules)
      #expect(try running.differences(to: request).isEmpty, "\(running.shown)")
    }
    for (protection, text) in [
      (WindowProtection.off, "no window"),
      (.on([try WindowRule("a"), try WindowRule("b")]), "marked windows, a, b"),
    ] {
      request.capture.protection = protection
      #expect(
        try running.differences(to: request).map(\.description)
          == ["protect is marked windows, a, not \(text)"])
    }
    request.capture.protection = nil
    #expect(running.shown["protect"] == "marked windows, a")
    // The next manifest names no window: the session's stays black.
    var record = BroadcastRecord(
      session: SessionID(), extensionID: "", source: request.source, stream: "screen")
    record.options = running
    try scene.register([])
    let next = try ExtensionRegistry(scene.group).manifest(of: BroadcastScene.extensionID)
    let adopted = scene.request.adopting(record).captureSettings(for: next)
    #expect(adopted.protection == .on([try WindowRule("a")]))
    running.capture.drawsCursor = false
    #expect(
      try running.differences(to: request).map(\.description) == ["cursor is false, not true"])
  }

  /// A request of an application sets each kind of sound, or none.
  @Test func requestKnowsWhichSoundSourcesWereSet() throws {
    var running = SessionOptions()
    running.soundSources = [.audioApp: "tone:300"]
    var request = scene.request
    #expect(try running.differences(to: request).isEmpty)
    request.soundSources[.audioApp] = "pulse:monitor"
    #expect(request.soundSources == BroadcastRequest.usualSoundSources)
    let none = "none"
    #expect(
      try running.differences(to: request).map(\.description) == [
        "app-source is tone:300, not pulse:monitor", "mic-source is \(none), not pulse:mic",
      ])
    request.soundSources = [:]
    #expect(try running.differences(to: request).map(\.requested) == ["none"])
  }

  @Test func soundIsChangedWhereThatIsRequested() throws {
    try withWatchdog {
      let host = try host("--fps", "10")
      #expect(try join("--apply", "--mic", "on").contains("changed: mic on"))
      #expect(try scene.controller.sound.mic)
      // The switch counts, not the option at the start.
      #expect(try !join("--mic", "on").contains("changed"))
      let error = try refusal("--apply", "--fps", "20", "--app", "off")
      #expect(error.contains("changed: app off\n"), "\(error)")
      #expect(error.contains("need a new one: fps is 10, not 20"), "\(error)")
      #expect(try !scene.controller.sound.app)
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
    }
  }

  @Test func nextHostRestartsCaptureWithOptionsOfSession() throws {
    try withWatchdog {
      let first = try host("--fps", "10", "--orientation", "6")
      _ = try first.end(with: Signal.kill)
      #expect(try refusal("--fps", "20").contains("fps is 10, not 20"))
      let second = try RunningProgram("framebus", start)
      try second.waitForErrors("taking over")
      let words = try restartedCapture(second)
      #expect(words.contains("--fps=10") && words.contains("--orientation=6"), "\(words)")
      #expect(try second.end(with: Signal.interrupt).status == .exited(130))
    }
  }

  /// Only the host that started a process knows how it is confined; a record can say anything.
  @Test func nextHostVouchesForNothingThatAnotherHostStarted() throws {
    try withWatchdog {
      let first = try host("--fps", "10")
      _ = try first.end(with: Signal.kill)
      let board = try SessionBoard(scene.group, as: .host)
      try board.change { record in
        record?.options.requiresConfinement = true
        record?.options.duration = 1
        record?.options.end = .never
        record?.confinement = [.capture: "on", .extension: "on"]
      }
      let error = try refusal("--require-confinement")
      #expect(
        error.contains("was started by another host, so its confinement is unknown"), "\(error)")
      let location = ["--root", scene.root.path, "--group", "\(scene.group.id)"]
      let other = try RunningProgram(
        "framebus", ["capture", "test", "--size", "64x48", "--stream", "private"] + location)
      try waitUntil("another capture publishes: \(other.transcript)") {
        try output(of: "framebus", ["streams"] + location).contains("private")
      }
      try board.change { $0?.stream = "private" }
      #expect(try refusal("--duration", "1").contains("publishes the stream “private”"))
      try board.change { $0?.stream = "screen" }
      _ = try other.end(with: Signal.terminate)
      let second = try RunningProgram("framebus", start + ["--duration", "1"])
      try second.waitForErrors("taking over")
      try waitUntil("the status says what is known: \(second.transcript)") {
        try scene.controller.status.confinement.values.allSatisfy { $0.hasPrefix("unknown") }
      }
      #expect(try second.finish().status == .exited(0), "\(second.transcript)")
    }
  }

  /// Any member can write the record.
  @Test func recordCannotTurnProtectionOff() throws {
    var record = BroadcastRecord(
      session: SessionID(), extensionID: "", source: "screen", stream: "screen")
    record.options.capture.protection = .off
    var request = BroadcastRequest(extensionID: "", source: "screen")
    #expect(request.adopting(record).capture.protection == nil)
    request.capture.protection = .on([try WindowRule("a")])
    record.options.capture.protection = .on([try WindowRule("b")])
    let both = [try WindowRule("a"), try WindowRule("b")]
    #expect(request.adopting(record).capture.protection == .on(both))
  }

  @Test func recordNamesNoSourceAndLiftsNoRestriction() {
    var record = BroadcastRecord(
      session: SessionID(), extensionID: "", source: "screen", stream: "screen")
    record.options.soundSources = [.audioMic: "gst:audiotestsrc"]
    record.options.capture.whileSaver = .capture
    record.options.capture.allowsWayland = true
    let request = BroadcastRequest(extensionID: "", source: "screen")
    let adopted = request.adopting(record)
    #expect(adopted.soundSources == request.soundSources)
    #expect(adopted.capture.whileSaver == nil && adopted.capture.allowsWayland == nil)
    // It can say that a screen is captured, not that none is.
    for (content, expected) in [(StreamContent.other, nil), (.screen, StreamContent.screen)] {
      record.options.capture.content = content
      #expect(request.adopting(record).capture.content == expected)
    }
  }

  @Test func optionsSurviveTheRecordAndAMalformedOneIsIgnoredByItself() throws {
    var options = SessionOptions()
    options.isConfined = false
    options.restartLimit = 3
    options.soundSources = [.audioMic: "tone:1 2"]
    for (option, text) in [
      (CaptureSettings.Option.fps, "30000/1001"), (.size, "64x48+1+2"), (.orientation, "6"),
      (.cursor, "false"), (.isolate, "true"), (.backend, "shm"), (.force, "true"), (.silence, "0"),
      (.content, "screen"),
    ] { try options.capture.set(option, text) }
    let two = [try WindowRule("a"), try WindowRule("0x1")]
    let protections: [WindowProtection?] = [nil, .off, .on([]), .on(two)]
    for protection in protections {
      options.capture.protection = protection
      #expect(SessionOptions(options.value) == options)
    }
    // A record of a build that wrote none.
    #expect(SessionOptions(nil) == SessionOptions() && SessionOptions("text") == SessionOptions())
    var least = SessionOptions()
    least.soundSources = [:]
    let unknown = Dictionary(
      uniqueKeysWithValues: (0..<99).map { ("\($0)", DefaultsValue.integer(0)) })
    #expect(SessionOptions(.dictionary(unknown)) == least)
    let malformed: [(String, DefaultsValue)] = [
      ("fps", 30), ("fps", "0"), ("confine", "yes"), ("restarts", "-1"), ("duration", "nan"),
      ("app-source", .string(String(repeating: "a", count: 513))),
    ]
    for (name, value) in malformed {
      let read = SessionOptions([name: value, "orientation": "6"])
      #expect(read.capture.orientation?.rawValue == 6, "\(name)")
      #expect(read.restartLimit == least.restartLimit && read.isConfined, "\(name)")
      #expect(read.soundSources.isEmpty && read.duration == nil, "\(name)")
    }
    let marks = String(repeating: "a ", count: 65)
    let many = SessionOptions(["protect": .string(marks)])
    #expect(many.unread == ["protect": marks])
    #expect(SessionOptions(["protect": "0xg b"]).capture.protection == .on([try WindowRule("b")]))
  }
}
