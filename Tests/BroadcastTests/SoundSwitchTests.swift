import AppGroup
import Foundation
import FrameBus
import Platform
import Sound
import TestSupport
import Testing

@testable import Broadcast

/// The sound switch: which stream follows which side, and concurrent changes.
@Suite struct SoundSwitchTests {
  /// A sound stream is switched by its kind, whatever its name.
  @Test func soundSwitchFollowsKindNotStreamName() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["sound=20"], samples: SampleBufferType.allCases)
      var request = scene.request
      // Swapped, so that the names do not reveal the kinds.
      request.streams = [
        .audioApp: try StreamName("audio.mic"), .audioMic: try StreamName("audio.app"),
      ]
      request.soundSources = [.audioApp: "tone:440", .audioMic: "tone:880"]
      let session = try scene.controller.start(request).session
      try waitUntil("sound of applications, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-app 20") }
      }
      #expect(!scene.trace.contains { $0.hasPrefix("audio-mic") })
      // The microphone's stream may begin later.
      try waitUntil("both streams have their kinds") {
        var kinds: [String: FrameFormat.Kind] = [:]
        for stream in try listStreams(in: scene.group) {
          kinds[stream.name.text] = stream.format?.kind
        }
        return kinds["audio.mic"] == .appAudio && kinds["audio.app"] == .micAudio
      }
      try scene.controller.setSound(app: false, mic: true)
      try waitUntil("the microphone, not \(scene.trace)") {
        scene.trace.contains { $0.hasPrefix("audio-mic 20") }
      }
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func broadcastLeavesSoundSwitchAsItWas() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      // Never set: on, for a capture without a broadcast.
      #expect(try scene.controller.sound == SoundSwitch(app: true, mic: true))
      let first = try scene.start()
      #expect(try scene.controller.sound == SoundSwitch(app: true, mic: false))
      #expect(try scene.finish(first) == .finished)
      #expect(try scene.controller.sound == SoundSwitch(app: true, mic: true))
      try scene.controller.setSound(app: false, mic: nil)
      let second = try scene.start()
      try scene.controller.setSound(app: nil, mic: true)
      #expect(try scene.controller.sound == SoundSwitch(app: true, mic: true))
      #expect(try scene.finish(second) == .finished)
      #expect(try scene.controller.sound == SoundSwitch(app: false, mic: true))
    }
  }

  @Test func switchIsRestoredAfterHostWasKilled() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      #expect(try !scene.controller.sound.mic)
      _ = try host.end(with: Signal.kill)
      for role in [Role.extension, .capture] { try scene.kill(role) }
      let session = try scene.start()
      #expect(try scene.finish(session) == .finished)
      #expect(try scene.controller.sound.mic)
    }
  }

  @Test func concurrentSoundSwitchesAllSucceedWithoutLostUpdates() throws {
    try withWatchdog {
      let root = try TemporaryRoot()
      let location = ["--root", root.path, "--group", "a.b"]
      try output(of: "framebus", ["group", "create", "a.b", "--root", root.path])
      func sound() throws -> [String: Bool] {
        let text = try output(of: "framebus", location + ["broadcast", "sound", "--json"])
        return try JSONDecoder().decode([String: Bool].self, from: Data(text.utf8))
      }
      /// Starts `count` processes that make the changes one after the other.
      func start(_ count: Int, _ changes: [String]) throws -> [RunningProgram] {
        let framebus = try pathOfProgram("framebus")
        // A disk that takes five seconds to sync the suite makes the others give up.
        let script = changes.map {
          """
          until said=$("$0" "$@" broadcast sound \($0) 2>&1); do
            case $said in *"has held the lock"*) ;; *) echo "$said" >&2; exit 1 ;; esac
          done
          """
        }
        return try (0..<count).map { _ in
          try RunningProgram("sh", ["-c", script.joined(separator: "\n"), framebus] + location)
        }
      }
      func finish(_ writers: [RunningProgram]) throws {
        for writer in writers {
          let result = try writer.finish()
          #expect(result.status == .exited(0), "\(result.errors)")
        }
      }
      // A lost update shows up in the process that made it.
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
      // If the processes disagree, one of them is the last.
      let pairs = [("on", "on"), ("off", "off"), ("on", "off")]
      try finish(pairs.flatMap { try start(3, ["--app \($0) --mic \($1)"]) })
      let last = try sound()
      #expect(pairs.contains { last == ["app": $0 == "on", "mic": $1 == "on"] }, "\(last)")
    }
  }
}
