#if Media
  import Platform
  import TestSupport
  import Testing

  /// A broadcast of an application's own frames into a file, by the built-in extension.
  @Suite struct StreamSourceTests {
    @Test func framesOfApplicationAreInFile() throws {
      try withWatchdog {
        let bench = try Bench()
        let path = bench.file("game.mkv")
        let root = ["--root", bench.root.path]
        let registered = try run(
          "framebus",
          root + ["extension", "register", "--builtin", "file:\(path)", "--samples", "video"])
        #expect(registered.status == .exited(0), "\(registered.errors)")
        let host = try RunningProgram(
          "framebus",
          root + ["broadcast", "start", "framebus.upload", "--yes", "--source", "stream:game"])
        try host.waitForErrors("connecting: no stream game is published yet")
        let publisher = try RunningProgram(
          "UploadTestPublisher", [bench.root.path, "game", "live", "XR24:320x240:40:100000"])
        // The end of the stream ends the broadcast.
        let result = try host.finish()
        #expect(result.status == .exited(0), "\(result.errors)")
        #expect(result.errors.contains("live\n"), "\(result.errors)")
        _ = try publisher.finish()
        let recording = try Recording(path)
        let numbers = recording.levels.map { Int((Double($0 - 16) / 8).rounded()) }
        for (number, found) in zip(numbers, recording.levels) {
          #expect(abs(found - level(number)) <= 4, "\(recording.levels)")
        }
        // A busy machine skips frames, and sends none twice or out of order.
        let steps = zip(numbers, numbers.dropFirst()).map { ($1 - $0 + 24) % 24 }
        #expect(steps.allSatisfy { $0 < 12 }, "\(numbers)")
        #expect(Set(numbers).count >= 12 && numbers.count <= 41, "\(numbers)")
      }
    }
  }
#endif
