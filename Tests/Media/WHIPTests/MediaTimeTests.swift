#if Media
  import Platform
  import TestSupport
  import Testing

  /// Time stamps of pictures and sound, as an independent WebRTC stack receives them.
  @Suite struct MediaTimeTests {
    private let root: TemporaryRoot
    private let server: WebServer

    init() throws {
      root = try TemporaryRoot()
      server = try WebServer("whip_server.py", ["0", "times=yes"])
    }

    private func start(_ arguments: String...) throws -> RunningProgram {
      try RunningProgram("framebus", ["--root", root.path] + arguments)
    }

    private func numbers(_ prefix: String) -> [[Double]] {
      server.lines(prefix).map { $0.split(separator: " ").dropFirst().compactMap { Double($0) } }
    }

    /// The test pattern draws the time at which it was captured.
    @Test func timesBetweenPicturesAreThoseOfCapture() throws {
      try withWatchdog {
        let capture = try start("capture", "test", "--size", "320x240", "--fps", "30")
        let upload = try start("upload", "whip:\(server.address("whip"))")
        try server.waitForFrames(150)
        #expect(try upload.end(with: Signal.terminate).status == .exited(0), "\(upload.transcript)")
        try capture.end(with: Signal.terminate)
        let times = numbers("time ")
        let first = try #require(times.first)
        #expect(times.count > 100 && times.allSatisfy { $0.count == 2 })
        let errors = times.map { abs(($0[0] - first[0]) - ($0[1] - first[1])) }
        // Both are rounded: the drawn time to milliseconds.
        #expect(errors.allSatisfy { $0 < 0.002 }, "\(errors.max() ?? 0)")
      }
    }

    /// A flash and a beep begin with each second of one clock. The receiver has only the sender's
    /// reports to relate the two tracks.
    @Test func flashesAndBeepsCoincide() throws {
      try withWatchdog {
        let pictures = try start("capture", "test:flash", "--size", "320x240", "--fps", "60")
        let sound = try start("capture", "beep:1000")
        let upload = try start(
          "upload", "whip:\(server.address("whip"))", "--stream", "screen", "--stream", "audio.app")
        try waitUntil("there are flashes and beeps: \(server.program.transcript)") {
          server.lines("flash ").count >= 5 && server.lines("beep ").count >= 5
        }
        #expect(try upload.end(with: Signal.terminate).status == .exited(0), "\(upload.transcript)")
        for capture in [pictures, sound] { try capture.end(with: Signal.terminate) }
        let (flashes, beeps) = (numbers("flash ").map { $0[0] }, numbers("beep ").map { $0[0] })
        // A busy machine may draw a flash late, or lose a packet of sound, but not most times.
        let skews = flashes.compactMap { flash in beeps.map { abs($0 - flash) }.min() }.sorted()
        #expect(skews[skews.count / 2] < 0.04, "\(flashes), \(beeps)")
        // Until the first report a receiver cannot relate the tracks. Every five seconds before.
        for kind in ["video", "audio"] {
          #expect(server.lines("report \(kind)").count >= 5, "\(server.lines("report"))")
        }
      }
    }
  }
#endif
