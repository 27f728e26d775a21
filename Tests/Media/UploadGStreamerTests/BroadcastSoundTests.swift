#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// A broadcast with sound by the built-in extension.
  @Suite struct BroadcastSoundTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    private func start(_ destination: String, _ arguments: String...) throws -> RunningProgram {
      try bench.broadcast(
        to: destination, ["--app-source", "tone:997", "--mic-source", "tone:2000"] + arguments)
    }

    @Test func broadcastRecordsApplicationSoundWithPictures() throws {
      try withWatchdog {
        let path = bench.file("out.mkv")
        let host = try start("file:\(path)")
        try bench.waitForSound(300, in: path, host)
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        let heard = try Heard(path)
        #expect(heard.codecs == ["h264", "opus"])
        #expect(abs(try #require(heard.hertz) - 997) < 1)
        #expect(heard.level(2_000, from: 0.5, to: 1.5) < 0.001)
      }
    }

    @Test func soundIsSwitchedDuringBroadcast() throws {
      try withWatchdog {
        let path = bench.file("out.mkv")
        let host = try start("file:\(path)")
        try bench.waitForSound(150, in: path, host)
        for change in [["--mic", "on"], ["--app", "off"], ["--mic", "off"]] {
          let result = try run(
            "framebus", ["--root", bench.root.path, "broadcast", "sound"] + change)
          #expect(result.status == .exited(0), "\(result.errors)")
          try bench.waitForSound(200, in: path, host)
        }
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        let heard = try Heard(path)
        // The tones that were heard for half a second: the sound server of a busy machine leaves
        // gaps.
        var recorded: [String] = []
        var before = ""
        var count = 0
        for tenth in 0..<Int(Double(heard.samples.count) / 4_800) {
          let from = Double(tenth) / 10
          let app = heard.level(997, from: from, to: from + 0.1) > 0.01
          let mic = heard.level(2_000, from: from, to: from + 0.1) > 0.01
          let now = app ? mic ? "both" : "app" : mic ? "mic" : "none"
          count = now == before ? count + 1 : 1
          before = now
          if count == 5, recorded.last != now { recorded.append(now) }
        }
        // The first sound arrives after a moment.
        if recorded.first == "none" { recorded.removeFirst() }
        #expect(recorded == ["app", "both", "mic", "none"])
      }
    }

    /// Nothing but sound is sent: the first of it that the peer accepts makes the broadcast live.
    @Test func soundAloneIsLiveOnceAPeerAcceptsIt() throws {
      try withWatchdog {
        let port = try bench.freePort()
        let host = try bench.broadcast(
          to: "srt://127.0.0.1:\(port)?conntimeo=500", ["--app-source", "tone:997"],
          registering: ["--samples", "audio-app"])
        try host.waitForErrors("connecting: ")
        #expect(!host.errors.text.contains("live"))
        let receiver = try bench.receiveSRT(port, "alone.ts")
        try host.waitForErrors("live")
        try bench.waitForBytes(20_000, in: "alone.ts")
        let status = try bench.framebus("broadcast", "status")
        #expect(status.output.contains(" live\n"), "\(status.output)")
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        try receiver.end(with: SIGTERM)
        let heard = try Heard(bench.file("alone.ts"))
        #expect(Set(heard.codecs) == ["aac"])
        #expect(abs(try #require(heard.hertz) - 997) < 1)
      }
    }

    @Test func soundAloneIsLiveAtAnRTMPServer() throws {
      try withWatchdog {
        let port = try bench.freePort()
        let server = try bench.nginx(port)
        let host = try bench.broadcast(
          to: "rtmp://127.0.0.1:\(port)/live/alone", ["--app-source", "tone:997"],
          registering: ["--samples", "audio-app"])
        try host.waitForErrors("live")
        try bench.waitForBytes(20_000, in: "alone.flv")
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        try server.end(with: SIGQUIT)
      }
    }

    @Test func broadcastContinuesWithoutSoundServer() throws {
      try withWatchdog {
        let path = bench.file("out.mkv")
        let host = try bench.broadcast(
          to: "file:\(path)", environment: ["PULSE_SERVER": "unix:\(bench.file("none"))"])
        try bench.waitForSound(100, in: path, host)
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        let heard = try Heard(path)
        #expect(!heard.samples.isEmpty && heard.samples.allSatisfy { abs($0) < 0.001 })
        let log = try bench.framebus("log", "--role", "host")
        #expect(log.output.contains("the capture of audio-app exited with status 1"))
      }
    }
  }
#endif
