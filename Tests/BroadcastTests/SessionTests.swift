import AppGroup
import CredentialStore
import Foundation
import FrameBus
import NotifyCenter
import Platform
import SharedDefaults
import SharedLog
import Synchronization
import TestSupport
import Testing

@testable import Broadcast

/// What a session shows to other members, hands over and leaves behind.
@Suite struct SessionTests {
  @Test func lateMemberReadsPhaseSessionAndCaptureState() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let center = try NotifyCenter(scene.group, role: .capture)
      let state = try NotificationName(BroadcastNames.state)
      let captured = try NotificationName(BroadcastNames.captured)
      #expect(StateWord(rawValue: try center.state(of: state)).phase == .idle)
      let session = try scene.start()
      try scene.events.wait(for: .live)
      #expect(StateWord(rawValue: try center.state(of: state)).phase == .live)
      // A test pattern is not a screen.
      #expect(try center.state(of: captured) == 0)
      let status = try BroadcastStatus(of: scene.group, as: .capture)
      #expect(status.session == session)
      #expect(!status.isCaptured)
      #expect(Set(status.pids.keys) == [.host, .capture, .extension])
      try scene.controller.pause()
      try scene.events.wait(for: .paused([.requested]))
      let word = StateWord(rawValue: try center.state(of: state))
      #expect(word.phase == .paused)
      #expect(word.pauses == [.requested])
      #expect(try center.state(of: captured) == 0)
      #expect(try scene.finish(session) == .finished)
      #expect(StateWord(rawValue: try center.state(of: state)).phase == .finished)
    }
  }

  @Test func secondStartJoinsSameBroadcastOrFails() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let session = try scene.start()
      let other = try BroadcastController(in: scene.group)
      #expect(try other.start(scene.request) == .joined(session))
      var request = scene.request
      request.source = "test:bars"
      #expect(
        throws: BroadcastError.alreadyBroadcasting(
          session, extensionID: BroadcastScene.extensionID, source: scene.source)
      ) { try other.start(request) }
      try other.finish()
      #expect(try other.waitForEnding(of: session) == .finished)
      #expect(throws: BroadcastError.noBroadcast) { try other.pause() }
    }
  }

  @Test func consentIsLoggedOncePerSession() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      _ = try host.end(with: Signal.kill)
      let session = try scene.start()
      #expect(try scene.finish(session) == .finished)
      let reader = try LogReader(scene.group)
      var consents: [String] = []
      while let entry = try reader.next() {
        guard case .line(let line) = entry, line.label == "broadcast.consent" else { continue }
        consents.append(line.run.session)
      }
      #expect(consents == [session.text])
    }
  }

  @Test func retainingMoreThanQuotaThrows() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["keep=all"])
      let session = try scene.start()
      let quota = SampleStreams.retainQuota
      let line = "retained \(quota), \(quota) different, quota \(quota)"
      try waitUntil("\(line), not \(scene.trace)") { scene.trace.contains(line) }
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func credentialReachesOnlyTheExtension() throws {
    try withWatchdog {
      let token = "canary-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
      let scene = try BroadcastScene(
        ["credential=whip.example.com/studio"], credentials: ["whip.example.com/studio"])
      let name = try CredentialName(service: "whip.example.com", account: "studio")
      try CredentialStore.create(in: scene.group)
        .set(name, SecretBytes(copying: Array(token.utf8)))
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "credential \(token.utf8.count)", "video"])
      let pids = try scene.controller.status.pids.values
      for pid in pids {
        for file in ["cmdline", "environ"] {
          let bytes = try Data(contentsOf: URL(filePath: "/proc/\(pid)/\(file)"))
          #expect(bytes.range(of: Data(token.utf8)) == nil, "\(file) of \(pid)")
        }
      }
      let found = try run("grep", ["-r", "-l", "-a", token, scene.root.path])
      #expect(found.status == .exited(1), "\(found.output)")
      #expect(try scene.finish(session) == .finished)
      let afterwards = try run("grep", ["-r", "-l", "-a", token, scene.root.path])
      #expect(afterwards.status == .exited(1), "\(afterwards.output)")
    }
  }

  @Test func confinedExtensionOpensHandedCredentialInSameCallOrder() throws {
    try withWatchdog {
      let scene = try BroadcastScene(
        ["credential=whip.example.com/studio"], credentials: ["whip.example.com/studio"])
      let name = try CredentialName(service: "whip.example.com", account: "studio")
      try CredentialStore.create(in: scene.group).set(name, SecretBytes(copying: [1, 2, 3]))
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "credential 3", "video"])
      try scene.kill(.capture)
      try scene.waitForTrace([
        "started 1", "credential 3", "video", "paused captureLost", "resumed", "video",
      ])
      #expect(try scene.finish(session) == .finished)
      #expect(try scene.controller.status.pids == [:])
    }
  }

  @Test func malformedRecordCountsAsMissing() throws {
    let scene = try BroadcastScene()
    let suite = try SharedDefaults(suiteName: BroadcastNames.suite, in: scene.group)
    let whole = BroadcastRecord(
      session: SessionID(), extensionID: "a", source: "b", stream: "screen"
    ).value
    guard case .dictionary(let values) = whole else { return }
    #expect(BroadcastRecord(whole) != nil)
    var broken: [DefaultsValue] = ["text", 7, [:], .dictionary(["session": "x"])]
    let required: Set = ["boot", "session", "phase", "extension", "source", "stream"]
    // Options are read each by itself.
    for key in values.keys where key != "options" {
      let long = DefaultsValue.string(String(repeating: "x", count: 600))
      for value in [nil, long, -1, .integer(.max), ["x"]] as [DefaultsValue?] {
        // A list of pauses is valid whatever it contains.
        if key == "pauses", value == ["x"] { continue }
        // A process of an older build may not have written it.
        if value == nil, !required.contains(key) { continue }
        var changed = values
        changed[key] = value
        broken.append(.dictionary(changed))
      }
    }
    var finishedWithoutEnding = values
    finishedWithoutEnding["phase"] = "finished"
    broken.append(.dictionary(finishedWithoutEnding))
    for failure in [DefaultsValue.string(String(repeating: "x", count: 600)), -1, ["x"]] {
      var connecting = values
      connecting["connectionFailure"] = failure
      broken.append(.dictionary(connecting))
    }
    for value in broken {
      try suite.set(value, forKey: BroadcastNames.recordKey)
      #expect(try scene.controller.status.phase == .idle, "\(value)")
      #expect(throws: BroadcastError.noBroadcast) { try scene.controller.pause() }
    }
  }

  @Test func tooLongTextsAreRefusedAndBroadcastContinues() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let limit = BroadcastError.textTooLong(maximumBytes: BroadcastRecord.maximumTextBytes)
      var request = scene.request
      request.source = "file:/" + String(repeating: "x", count: 600)
      let tooLong = request
      #expect(throws: limit) { try scene.controller.start(tooLong) }
      #expect(try scene.controller.status.phase == .idle)
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      try scene.events.wait(for: .live)
      let name = String(repeating: "\u{1F468}", count: 129)
      #expect(throws: BroadcastError.badApplication) {
        try scene.controller.annotate(applicationID: name)
      }
      let board = try SessionBoard(scene.group, as: .host)
      #expect(throws: limit) { try board.change(session) { $0.application = name } }
      let status = try scene.controller.status
      #expect(status.session == session && status.phase == .live && status.applicationID.isEmpty)
      // A malformed name that another member wrote is not reported.
      try board.change(session) { record in
        record.application = "a\n\u{1b}[31mb"
        record.requested = .pause
      }
      try scene.waitForTrace(["started 1", "video", "paused requested"])
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func endedStreamIsLoggedOncePerGeneration() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=20"], samples: [.video, .audioApp])
      var request = scene.request
      request.soundSources = [.audioApp: "tone:440"]
      let session = try scene.controller.start(request).session
      try waitUntil("sound arrives, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-app 20") }
      }
      let stream = try StreamName(SampleBufferType.audioApp.usualStream)
      let capture = try #require(
        RolePresence.capture(of: session, publishing: stream, in: scene.group))
      capture.send(signal: SIGTERM)
      #expect(capture.waitForEnd(until: .after(.seconds(60))))
      #expect(try scene.finish(session) == .finished)
      let lines = try scene.log().map(\.message).filter {
        $0.hasPrefix("receiving audio-app, generation ")
      }
      #expect(lines.count == Set(lines).count && !lines.isEmpty, "\(lines)")
    }
  }

  @Test func startDoesNotWaitForEventHandler() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let hasStarted = try StopSignal()
      let isInTime = Mutex(false)
      let controller = try BroadcastController(in: scene.group) { event in
        guard case .started = event else { return }
        let ready = try? waitUntilReadable(
          [hasStarted.descriptorNumber], until: .after(.seconds(60)))
        isInTime.withLock { $0 = ready == [true] }
      }
      let session = try controller.start(scene.request).session
      hasStarted.raise()
      try scene.waitForTrace(["started 1", "video"])
      try controller.finish()
      #expect(try controller.waitForEnding(of: session) == .finished)
      #expect(isInTime.withLock { $0 })
    }
  }

  @Test func captureErrorReachesHostWithoutUsageText() throws {
    try withWatchdog {
      let scene = try BroadcastScene(source: "screen:99")
      var request = scene.request
      request.capture.isIsolated = true
      request.capture.backend = .socket
      let session = try scene.controller.start(request).session
      guard case .failed(let failure)? = try scene.controller.waitForEnding(of: session) else {
        throw HarnessError("the broadcast does not fail: \(scene.events.all)")
      }
      #expect(failure.reason.contains("the socket backend shares no memory"), "\(failure)")
      #expect(!failure.reason.contains("--help"), "\(failure)")
    }
  }

  @Test func publisherOnStreamsOfDeadSessionIsLeftRunning() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      var dead = BroadcastRecord(
        session: SessionID(), extensionID: BroadcastScene.extensionID, source: scene.source,
        stream: "screen")
      dead.sound = SampleSources([.audioApp: try StreamName("audio.app")])
      let record = dead
      try SessionBoard(scene.group, as: .host).change { $0 = record }
      let stranger = try RunningProgram(
        "framebus", ["capture", "--quiet", "--stream=audio.app", "--", "tone:440"],
        environment: ["FRAMEBUS_GROUP": "\(scene.group.id)", "FRAMEBUS_HOME": scene.root.path])
      try waitUntil("the stream exists: \(stranger.transcript)") {
        try listStreams(in: scene.group).contains { $0.name.text == "audio.app" }
      }
      let session = try scene.start()
      #expect(session != record.session)
      try scene.waitForTrace(["started 1", "video"])
      #expect(try scene.finish(session) == .finished)
      #expect(stranger.process.status == nil, "\(stranger.transcript)")
      try stranger.end(with: Signal.terminate)
    }
  }

  @Test func captureIsConfinedUnlessSourceMayNeedNetwork() {
    #expect(CaptureNeeds.ofDisplay(":0") == .display(":0"))
    #expect(CaptureNeeds.ofDisplay(nil) == .display(nil))
    for name in ["localhost:47", "host:0"] { #expect(CaptureNeeds.ofDisplay(name) == .unknown) }
    for name in ["", "unix:/run/pulse/native", "/run/pulse/native"] {
      #expect(CaptureNeeds.ofSoundServer(name) == .soundServer)
    }
    for name in ["tcp:host:4713", "host", "unix:/run/a tcp:host"] {
      #expect(CaptureNeeds.ofSoundServer(name) == .unknown)
    }
  }

  @Test func attemptCountStopsAtMaximum() throws {
    var record = BroadcastRecord(
      session: SessionID(), extensionID: "a", source: "b", stream: "screen")
    record.beginAttempt()
    #expect(record.attempt == 1)
    record.attempt = BroadcastRecord.maximumAttempts
    record.beginAttempt()
    #expect(BroadcastRecord(record.value)?.attempt == BroadcastRecord.maximumAttempts)
  }

  @Test func everyEndingRoundTripsThroughRecord() throws {
    let failure = BroadcastFailure(
      domain: "WHIP\u{1b}[2J", code: .min, reason: "ü\0\n", recovery: "")
    for ending in [
      .finished, .cancelled, .died(signal: nil), .died(signal: 11), .failed(failure),
    ] as [BroadcastEnding] {
      var record = BroadcastRecord(
        session: SessionID(), extensionID: "a", source: "b", stream: "screen")
      record.end(ending)
      #expect(BroadcastRecord(record.value) == record)
    }
    let long = BroadcastFailure(
      domain: "a", code: 1, reason: String(repeating: "é", count: 4000), recovery: "")
    #expect(long.reason.utf8.count == BroadcastFailure.maximumTextBytes)
  }
}
