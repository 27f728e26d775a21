import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Broadcasts of a screen without motion.
@Suite struct StillScreenTests {
  private let screen: VirtualScreen

  init() throws { screen = try VirtualScreen(width: 320, height: 240) }

  /// Paints the whole screen, and returns when it is painted.
  private func paint(_ colour: String) throws {
    try screen.show("xsetroot", ["-solid", "#\(colour)"]).finish()
  }

  /// Subscribes as another process would, until a frame has the colour.
  private func waitForFrame(_ colour: [UInt8], in group: AppGroup) throws {
    var options = SubscriberOptions()
    options.start = .next
    var subscriber = try Subscriber(StreamName("screen"), in: group, options: options)
    while case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) {
      // SAFETY: each byte of the span is read as a byte.
      let pixel = unsafe lease.bytes.withUnsafeBytes { unsafe [UInt8]($0.prefix(3)) }
      if pixel == colour { return }
    }
    throw HarnessError("no frame has the colour \(colour)")
  }

  @Test func framesCapturedDuringPauseAreNotDeliveredAfterResume() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["colour=1"], source: "screen:\(screen.display)")
      try paint("ff0000")
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video ff0000"])
      try scene.controller.pause()
      try scene.events.wait(for: .paused([.requested]))
      try paint("0000ff")
      try waitForFrame([0xff, 0, 0], in: scene.group)
      try paint("00ff00")
      try scene.controller.resume()
      try scene.waitForTrace([
        "started 1", "video ff0000", "paused requested", "resumed", "video 00ff00",
      ])
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func extensionKilledInPauseSkipsFramesFromBeforeItsEnd() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["colour=1"], source: "screen:\(screen.display)")
      try paint("ff0000")
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video ff0000"])
      try scene.controller.pause()
      try scene.events.wait(for: .paused([.requested]))
      try paint("0000ff")
      try waitForFrame([0xff, 0, 0], in: scene.group)
      try paint("00ff00")
      // Stopped, so that it does not see the end of the pause.
      let pid = try #require(try scene.controller.status.pids[.extension])
      ProcessWatch(pid)?.send(signal: SIGSTOP)
      try scene.controller.resume()
      try scene.kill(.extension)
      try scene.waitForTrace([
        "started 1", "video ff0000", "paused requested", "started 2", "video 00ff00",
      ])
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func idleHandlerIsCalledWithoutSamples() throws {
    try withWatchdog {
      let scene = try BroadcastScene(["idle=1"], source: "screen:\(screen.display)")
      let session = try scene.start()
      try waitUntil("the idle handler is called, not \(scene.trace)") {
        scene.trace.contains("idle")
      }
      #expect(try scene.finish(session) == .finished)
    }
  }

  #if Media
    @Test func builtInUploaderResendsStillScreenWithoutSound() throws {
      try withWatchdog {
        let scene = try BroadcastScene()
        let global = ["--root", scene.root.path, "--group", "\(scene.group.id)"]
        let path = scene.root.file("still.mkv")
        let registered = try run(
          "framebus", global + ["extension", "register", "--builtin", "file:\(path)"])
        #expect(registered.status.isSuccess, "\(registered.errors)")
        let host = try RunningProgram(
          "framebus",
          global + [
            "broadcast", "start", "framebus.upload", "--yes", "--source",
            "screen:\(screen.display)",
          ],
          environment: ["PULSE_SERVER": "unix:/none"])
        // The file is written during the broadcast.
        func packetCount() throws -> Int {
          let result = try run(
            "ffprobe",
            [
              "-loglevel", "quiet", "-count_packets", "-select_streams", "v", "-show_entries",
              "stream=nb_read_packets", "-of", "csv=p=0", path,
            ])
          return Int(result.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        }
        try waitUntil("the file has pictures: \(host.transcript)") { try packetCount() >= 4 }
        #expect(try host.end(with: Signal.interrupt).status == .exited(130))
        #expect(try packetCount() >= 4)
        let log = try run("framebus", global + ["log", "--role", "extension"]).output
        let ended = try #require(log.split(separator: "\n").last { $0.contains("upload ended") })
        let repeated = try #require(ended.firstMatch(of: /repeated=(\d+)/)?.1)
        #expect(try #require(Int(repeated)) >= 3, "\(ended)")
      }
    }
  #endif
}
