#if Media
  import Platform
  import TestSupport
  import Testing

  /// A broadcast of flashes by the built-in extension, confined as by default.
  extension SoundBench {
    @discardableResult
    func framebus(_ arguments: String...) throws -> ProgramResult {
      let result = try run("framebus", ["--root", root.path] + arguments)
      #expect(result.status == .exited(0), "\(result.errors)")
      return result
    }

    /// - Parameters:
    ///   - arguments: of `framebus broadcast start`.
    ///   - registering: further arguments of `framebus extension register`.
    func broadcast(
      to destination: String, _ arguments: [String] = [], registering: [String] = [],
      environment: [String: String?] = [:]
    ) throws -> RunningProgram {
      let registered = try run(
        "framebus",
        ["--root", root.path, "extension", "register", "--builtin", destination] + registering)
      #expect(registered.status == .exited(0), "\(registered.errors)")
      return try RunningProgram(
        "framebus",
        [
          "--root", root.path, "broadcast", "start", "framebus.upload", "--yes", "--source",
          "test:flash",
          "--size", "320x240",
        ] + arguments, environment: environment)
    }

    /// Waits until a growing file contains `count` more packets of sound.
    func waitForSound(_ count: Int, in path: String, _ host: RunningProgram) throws {
      let before = soundPacketCount(path)
      try waitUntil("\(count) pieces after \(before) of \(path): \(host.transcript)") {
        soundPacketCount(path) >= before + count
      }
    }

    private func soundPacketCount(_ path: String) -> Int {
      let text = try? output(
        of: "ffprobe",
        [
          "-v", "quiet", "-select_streams", "a", "-show_entries", "packet=size", "-of", "csv=p=0",
          path,
        ])
      return text?.split(separator: "\n").count ?? 0
    }
  }
#endif
