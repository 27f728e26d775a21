import FrameBus
import Platform
import Sound
import TestSupport
import Testing

@testable import Broadcast

/// The kinds and formats of sound that an extension receives.
@Suite struct SoundSamplesTests {
  @Test func hostCapturesEachRequestedKindOfSound() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=20"], samples: SampleBufferType.allCases)
      var request = scene.request
      request.soundSources = [.audioApp: "tone:440", .audioMic: "tone:880"]
      request.sound = [.audioApp: true, .audioMic: true]
      let session = try scene.controller.start(request).session
      for line in ["audio-app 20 48000x2 480", "audio-mic 20 48000x2 480", "video"] {
        try waitUntil("\(line), not \(scene.trace)") { scene.trace.contains(line) }
      }
      #expect(try scene.controller.sound == SoundSwitch(app: true, mic: true))
      #expect(try scene.finish(session) == .finished)
      // The sound captures have ended with the session.
      #expect(try listStreams(in: scene.group).isEmpty)
    }
  }

  @Test func microphoneIsOffByDefault() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=20"], samples: SampleBufferType.allCases)
      var request = scene.request
      request.soundSources = [.audioApp: "tone:440", .audioMic: "tone:880"]
      let session = try scene.controller.start(request).session
      try waitUntil("sound of applications, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-app 20") }
      }
      #expect(!scene.trace.contains { $0.hasPrefix("audio-mic") })
      try scene.controller.setSound(SoundSwitch(app: false, mic: true))
      try waitUntil("the microphone, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-mic 20") }
      }
      #expect(try scene.finish(session) == .finished)
    }
  }

  /// The sound server came back while no host ran.
  @Test func nextHostFindsThatMissingSoundIsBack() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=20"], samples: [.video, .audioApp])
      let host = try RunningProgram(
        "framebus",
        [
          "--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "start",
          BroadcastScene.extensionID, "--source", scene.source, "--app-source", "tone:440",
        ])
      try waitUntil("sound arrives, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-app 20") }
      }
      let board = try SessionBoard(scene.group, as: .host)
      let session = try #require(try board.read()?.session)
      _ = try host.end(with: Signal.kill)
      try board.change(session) { $0.missingSound = [.audioApp: "no server"] }
      var request = scene.request
      request.soundSources[.audioApp] = "tone:440"
      #expect(try scene.controller.start(request) == .adopted(session))
      try scene.events.wait(for: .soundBack(.audioApp))
      #expect(try scene.controller.status.missingSound.isEmpty)
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func broadcastContinuesWhenSoundCaptureCannotStart() throws {
    try withWatchdog {
      let scene = try BroadcastScene(samples: [.video, .audioApp])
      var request = scene.request
      // Confinement cannot grant a path that contains a newline.
      request.soundSources = [.audioApp: "file:/none\nrun /"]
      let session = try scene.controller.start(request).session
      try waitUntil("the failure is logged, not \(scene.events.all)") {
        try scene.log().contains {
          $0.message.hasPrefix("the capture of audio-app cannot be started: ")
        }
      }
      try scene.waitForTrace(["started 1", "video"])
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func switchingOneKindOfSoundKeepsTheOther() throws {
    let scene = try BroadcastScene()
    try scene.controller.setSound(SoundSwitch(app: true, mic: true))
    try scene.controller.setSound(app: false, mic: nil)
    #expect(try scene.controller.sound == SoundSwitch(app: false, mic: true))
    try scene.controller.setSound(app: nil, mic: false)
    #expect(try scene.controller.sound == SoundSwitch(app: false, mic: false))
  }

  @Test func soundIsWithheldWhilePictureCaptureIsLost() throws {
    try withWatchdog {
      let scene = try BroadcastScene(samples: [.video, .audioApp])
      var request = scene.request
      request.soundSources = [.audioApp: "tone:440"]
      let session = try scene.controller.start(request).session
      try waitUntil("both, not \(scene.trace)") {
        scene.trace.contains("video") && scene.trace.contains("audio-app")
      }
      try scene.kill(.capture)
      try waitUntil("the pictures are back, not \(scene.trace)") { scene.trace.contains("resumed") }
      let paused = try #require(scene.trace.firstIndex(of: "paused captureLost"))
      #expect(scene.trace[paused + 1] == "resumed")
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func killedSoundCaptureRestartsWithoutPausingBroadcast() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=20"], samples: [.video, .audioApp])
      var request = scene.request
      request.soundSources = [.audioApp: "tone:440"]
      let session = try scene.controller.start(request).session
      try waitUntil("sound, not \(scene.trace)") {
        scene.trace.contains("audio-app 20 48000x2 480")
      }
      let first = try #require(
        try listStreams(in: scene.group).first { $0.name.text == "audio.app" })
      guard let watch = ProcessWatch(first.publisherPID) else {
        throw HarnessError("the publisher is gone")
      }
      watch.send(signal: Signal.kill)
      try waitUntil("sound arrives from a new process, not \(scene.trace)") {
        scene.trace.count { $0.hasPrefix("audio-app 20") } == 2
      }
      #expect(!scene.trace.contains { $0.hasPrefix("paused") })
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test(arguments: [
    "s16le 44100x1", "f32be 96000x6", "s24be 22050x2", "u8 8000x8", "f64le 192000x2",
  ])
  func soundArrivesInPublishedFormat(text: String) throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=5"], samples: [.video, .audioApp])
      let words = text.split { $0 == " " || $0 == "x" }.map(String.init)
      let sample = try #require(SampleFormat.allCases.first { "\($0)" == words[0] })
      let audio = try AudioFormat(
        sample, sampleRate: try #require(Int(words[1])), channelCount: try #require(Int(words[2])))
      let count = audio.sampleRate / 100
      let stop = try StopSignal()
      let ended = try StopSignal()
      let format = try FrameFormat.audio(.appAudio, audio, maximumSampleFrameCount: count)
      var options = PublisherOptions()
      // Shallower than the extension requests.
      options.ringDepth = 16
      let box = PublisherBox(
        try Publisher(StreamName("audio.app"), in: scene.group, format: format, options: options))
      try startThread(named: "sound") {
        box.publish(until: stop)
        ended.raise()
      }
      var request = scene.request
      request.soundSources = [:]
      let session = try scene.controller.start(request).session
      let line = "audio-app 5 \(words[1])x\(words[2]) \(count)"
      try waitUntil("\(line), not \(scene.trace)") { scene.trace.contains(line) }
      #expect(try scene.finish(session) == .finished)
      stop.raise()
      _ = try waitUntilReadable([ended.descriptorNumber], until: .never)
    }
  }
}

/// Publishes sound on its own thread, in frames of 10 ms.
private final class PublisherBox: @unchecked Sendable {
  // because only the publishing thread uses it
  private var publisher: Publisher?

  init(_ publisher: consuming Publisher) { self.publisher = consume publisher }

  func publish(until stop: StopSignal) {
    guard var publisher = publisher.take() else { return }
    while !stop.isRaised {
      _ = try? publisher.loan().publish()
      _ = try? waitUntilReadable([stop.descriptorNumber], until: .after(.milliseconds(10)))
    }
    publisher.finish(.ended)
  }
}
