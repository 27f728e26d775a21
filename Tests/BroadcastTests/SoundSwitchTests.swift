import AppGroup
import Foundation
import FrameBus
import Platform
import Sound
import TestSupport
import Testing

@testable import Broadcast

/// The switch of sound: which stream heeds which side, and many who change it at once.
@Suite struct SoundSwitchTests {
  /// Whatever a stream of sound is called, it is switched by what it is.
  @Test func aMicrophoneOnAStreamOfAnyNameHeedsItsOwnSwitch() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=20"], samples: SampleBufferType.allCases)
      var request = scene.request
      // Crosswise, so that no name says what it is.
      request.streams = [
        .audioApp: try StreamName("audio.mic"), .audioMic: try StreamName("audio.app"),
      ]
      request.soundSources = [.audioApp: "tone:440", .audioMic: "tone:880"]
      let session = try scene.controller.start(request).session
      try waitUntil("sound of applications, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-app 20") }
      }
      #expect(!scene.trace.contains { $0.hasPrefix("audio-mic") })
      var kinds: [String: FrameFormat.Kind] = [:]
      for stream in try listStreams(in: scene.group) {
        kinds[stream.name.text] = stream.format?.kind
      }
      #expect(kinds["audio.mic"] == .appAudio && kinds["audio.app"] == .micAudio, "\(kinds)")
      try scene.controller.setSound(app: false, mic: true)
      try waitUntil("the microphone, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-mic 20") }
      }
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func manyThatSwitchAtOnceAllSucceedAndNoneUndoesWhatAnotherSwitched() throws {
    try withWatchdog {
      let root = try TemporaryRoot()
      let place = ["--root", root.path, "--group", "a.b"]
      try output(of: "framebus", ["group", "create", "a.b", "--root", root.path])
      func sound() throws -> [String: Bool] {
        let text = try output(of: "framebus", place + ["broadcast", "sound", "--json"])
        return try JSONDecoder().decode([String: Bool].self, from: Data(text.utf8))
      }
      /// Processes that make such changes, one after the other, all processes at once.
      func start(_ count: Int, _ changes: [String]) throws -> [RunningProgram] {
        let framebus = try pathOfProgram("framebus")
        let script = changes.map { "\"$0\" \"$@\" broadcast sound \($0) || exit 1" }
        return try (0..<count).map { _ in
          try RunningProgram("sh", ["-c", script.joined(separator: "\n"), framebus] + place)
        }
      }
      func finish(_ writers: [RunningProgram]) throws {
        for writer in writers {
          let result = try writer.finish()
          #expect(result.status == .exited(0), "\(result.errors)")
        }
      }
      // Whoever undoes what somebody else switched is seen by whom it was switched.
      let controller = try BroadcastController(in: AppGroup.open(GroupID("a.b"), root: root.path))
      let writers = try start(
        4, Array(repeating: ["--mic on", "--mic off"], count: 20).flatMap(\.self))
      var app = false
      var lost = 0
      while writers.contains(where: { $0.process.status == nil }) {
        try controller.setSound(app: app, mic: nil)
        if try controller.sound.app != app { lost += 1 }
        app.toggle()
      }
      #expect(lost == 0)
      try finish(writers)
      #expect(try sound() == ["app": !app, "mic": false])
      // Where they do not agree, one of them is the last.
      let pairs = [("on", "on"), ("off", "off"), ("on", "off")]
      try finish(pairs.flatMap { try start(3, ["--app \($0) --mic \($1)"]) })
      let last = try sound()
      #expect(pairs.contains { last == ["app": $0 == "on", "mic": $1 == "on"] }, "\(last)")
    }
  }
}
