#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Captures what a sound server plays. Each test has its own server, without a sound card.
  @Suite struct PulseTests {
    private let bench: SoundBench
    private let server: RunningProgram
    private let environment: [String: String?]

    init() throws {
      bench = try SoundBench()
      let socket = bench.file("pulse.socket")
      environment = [
        "PULSE_SERVER": "unix:\(socket)", "HOME": bench.root.path,
        "XDG_RUNTIME_DIR": bench.root.path, "PULSE_COOKIE": bench.file("cookie"),
      ]
      server = try Self.startServer(at: socket, environment)
    }

    private static func startServer(
      at socket: String, _ environment: [String: String?]
    ) throws -> RunningProgram {
      let server = try RunningProgram(
        "pulseaudio",
        [
          "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
          "--disable-shm=yes", "-L", "module-null-sink sink_name=out rate=44100",
          "-L", "module-native-protocol-unix auth-anonymous=1 socket=\(socket)",
        ], environment: environment)
      try waitUntil("a sound server: \(server.transcript)") {
        FileManager.default.fileExists(atPath: socket)
      }
      return server
    }

    @Test func playedSoundIsReceived() throws {
      // 997 Hz at 44,100 Hz: server, capture and receiver convert the rate; the pitch must stay.
      let player = try RunningProgram(
        "sh",
        [
          "-c",
          "exec ffmpeg -v error -f lavfi -i sine=frequency=997:sample_rate=44100 -ac 2 -f s16le - |"
            + " pacat --playback --raw --rate=44100 --channels=2 --format=s16le",
        ], environment: environment)
      let capture = try RunningProgram(
        "framebus", ["capture", "pulse:monitor", "--root", bench.root.path],
        environment: environment)
      let path = bench.file("out.mkv")
      let result = try RunningProgram(
        "framebus",
        [
          "upload", "file:\(path)", "--root", bench.root.path, "--stream", "audio.app",
          "--frames", "500",
        ]
      ).finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(abs(try #require(try Heard(path).hertz) - 997) < 1)
      try capture.end(with: 15)
      #expect(capture.errors.text.components(separatedBy: "sound is 44100 Hz").count == 2)
      player.process.end(with: 15)
      server.process.end(with: 15)
    }

    private func published(_ stream: String) throws -> Int? {
      let text = try run("framebus", ["streams", "--json", "--root", bench.root.path]).output
      let list = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
      return list?.first { $0["name"] as? String == stream }?["published"] as? Int
    }

    /// A server that plays nothing delivers silence without end.
    @Test func silenceStopsAfter800ChunksAndSoundIsUploadedAtOnce() throws {
      try withWatchdog {
        let pictures = try bench.capture("test:flash", "--size", "320x240")
        let capture = try RunningProgram(
          "framebus", ["capture", "pulse:monitor", "--root", bench.root.path],
          environment: environment)
        let path = bench.file("out.mkv")
        let upload = try RunningProgram(
          "framebus",
          [
            "upload", "file:\(path)", "--root", bench.root.path, "--stream", "screen", "--stream",
            "audio.app",
          ])
        try waitUntil("silence stops: \(capture.transcript)") {
          try published("audio.app") == 800
        }
        // Pictures of one more second arrive, and no sound.
        let before = try published("screen") ?? 0
        try waitUntil("pictures continue") { try published("screen") ?? 0 >= before + 30 }
        #expect(try published("audio.app") == 800)
        let player = try RunningProgram(
          "sh",
          [
            "-c",
            "exec ffmpeg -v error -f lavfi -i sine=frequency=997:sample_rate=44100 -ac 2 -f s16le -"
              + " | pacat --playback --raw --rate=44100 --channels=2 --format=s16le",
          ], environment: environment)
        try waitUntil("sound is published again") { try published("audio.app") ?? 0 >= 1000 }
        #expect(try upload.end(with: 15).status == .exited(0), "\(upload.transcript)")
        for program in [pictures, capture] { try program.end(with: 15) }
        for program in [player, server] { program.process.end(with: 15) }
        let heard = try Heard(path)
        let seconds = Double(heard.samples.count) / Heard.rate
        // 8 s of silence, 1 s without frames, and 2 s of the tone, in one track without gaps.
        #expect(seconds > 10 && heard.level(997, from: 0, to: 8) < 0.001)
        #expect(heard.level(997, from: seconds - 1.2, to: seconds - 0.4) > 0.05)
      }
    }

    /// A system call of a GStreamer thread is ours if our code is on the stack.
    @Test func soundServerThreadMakesNoBlockingCall() throws {
      try withWatchdog {
        let capture = try RunningProgram(
          "framebus", ["capture", "pulse:monitor", "--root", bench.root.path],
          environment: environment)
        let reader = try RunningProgram(
          "framebus", ["upload", "null", "--root", bench.root.path, "--stream", "audio.app"])
        let threads = try threads(named: "source:src", of: capture)
        let trace = bench.file("trace")
        let tracer = try RunningProgram(
          "strace", ["-ff", "-k", "-o", trace] + threads.flatMap { ["-p", $0] })
        let event = /write\((\d+), "\\1\\0\\0\\0\\0\\0\\0\\0", 8\) += 8/
        // Also of threads that they start, as when the sound server gave up.
        func pieces() throws -> [String] {
          try FileManager.default.contentsOfDirectory(atPath: bench.root.path)
            .filter { $0.hasPrefix("trace.") }.flatMap { try Self.ownCalls(bench.file($0)) }
            .compactMap { try? event.wholeMatch(in: $0).map { "\($0.1)" } }
        }
        try waitUntil("a piece is handed over: \(tracer.transcript)") {
          try !pieces().isEmpty
        }
        // One eventfd, which does not block. It is closed when a busy sound server gives up.
        let number = try #require(try pieces().first)
        let process = "/proc/\(capture.processID)"
        let target = try FileManager.default.destinationOfSymbolicLink(
          atPath: "\(process)/fd/\(number)")
        #expect(target == "anon_inode:[eventfd]")
        let facts = try String(contentsOfFile: "\(process)/fdinfo/\(number)", encoding: .utf8)
        // For each call, the tracer unwinds the stack, so a busy machine takes long for each.
        for count in 2...5 {
          try waitUntil("\(count) pieces are handed over: \(tracer.transcript)") {
            try pieces().count >= count
          }
        }
        try tracer.end(with: 2)
        let calls = try threads.flatMap { try Self.ownCalls("\(trace).\($0)") }
        #expect(try calls.allSatisfy { try event.wholeMatch(in: $0) != nil }, "\(calls)")
        let flags = try #require(facts.firstMatch(of: /flags:\s*(\d+)/)?.1)
        #expect(try #require(Int32(flags, radix: 8)) & O_NONBLOCK != 0)
        try capture.end(with: 15)
        try reader.end(with: 15)
        server.process.end(with: 15)
      }
    }

    private func threads(named name: String, of program: RunningProgram) throws -> [String] {
      let tasks = "/proc/\(program.processID)/task"
      var found: [String] = []
      try waitUntil("a thread \(name): \(program.transcript)") {
        found = try FileManager.default.contentsOfDirectory(atPath: tasks).filter { task in
          (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) == name + "\n"
        }
        return !found.isEmpty
      }
      return found
    }

    /// The calls of a trace that this product's code made. Each call precedes its stack.
    private static func ownCalls(_ path: String) throws -> [String] {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
      var calls: [String] = []
      var call = ""
      for line in text.split(separator: "\n") {
        guard line.hasPrefix(" > ") else {
          call = String(line)
          continue
        }
        if line.contains("/framebus-capture-gstreamer("), !call.isEmpty {
          calls.append(call)
          call = ""
        }
      }
      return calls
    }

    @Test func confinedBroadcastCapturesPlayedSound() throws {
      try withWatchdog {
        let player = try RunningProgram(
          "sh",
          [
            "-c",
            "exec ffmpeg -v error -f lavfi -i sine=frequency=997:sample_rate=44100 -ac 2 -f s16le -"
              + " | pacat --playback --raw --rate=44100 --channels=2 --format=s16le",
          ], environment: environment)
        let path = bench.file("out.mkv")
        let manifest = bench.file("up.toml")
        try """
        version = 1
        id = "up"
        executable = "framebus-upload"
        arguments = ["file:\(path)"]
        samples = ["video", "audio-app"]
        writes = ["\(bench.root.path)"]
        """.write(toFile: manifest, atomically: true, encoding: .utf8)
        let registered = try run(
          "framebus", ["extension", "register", manifest, "--root", bench.root.path])
        #expect(registered.status == .exited(0), "\(registered.errors)")
        let host = try RunningProgram(
          "framebus",
          [
            "broadcast", "start", "up", "--yes", "--confine", "--source", "test:flash", "--size",
            "320x240",
            "--root", bench.root.path,
          ], environment: environment)
        try waitUntil("the tone is received: \(host.transcript)") {
          (try? Heard(path).hertz) != nil
        }
        try host.end(with: 15)
        #expect(abs(try #require(try Heard(path).hertz) - 997) < 1)
        player.process.end(with: 15)
        server.process.end(with: 15)
      }
    }

    @Test func doctorFindsSoundServer() throws {
      func line() throws -> Substring? {
        try run("framebus", ["doctor"], environment: environment).output
          .split(separator: "\n").first { $0.contains("sound server") }
      }
      #expect(try line()?.hasPrefix("ok ") == true)
      // Its socket stays.
      try server.end(with: SIGKILL)
      #expect(try line()?.hasPrefix("limited ") == true)
    }

    /// Said once; then tried again quietly until there is a server.
    @Test func broadcastReportsMissingSoundOnceAndItsReturn() throws {
      try withWatchdog {
        try server.end(with: SIGTERM)
        try? FileManager.default.removeItem(atPath: bench.file("pulse.socket"))
        let host = try bench.broadcast(
          to: "file:\(bench.file("out.mkv"))", ["--app-source", "pulse:monitor"],
          environment: environment)
        let missing = "no audio-app: pulse:monitor: "
        try host.waitForErrors(missing)
        func status() throws -> String { try bench.framebus("broadcast", "status").output }
        func log(_ role: String) throws -> String {
          try bench.framebus("log", "--role", role).output
        }
        #expect(try status().contains(/no sound +audio-app: pulse:monitor:/))
        let again = try Self.startServer(at: bench.file("pulse.socket"), environment)
        try host.waitForErrors("audio-app is captured again")
        #expect(try !status().contains("no sound"))
        try waitUntil("the log has the format of the sound") {
          try log("capture").contains("sound format sampleRate=")
        }
        try again.end(with: SIGTERM)
        try waitUntil("it is said again: \(host.transcript)") {
          host.errors.text.components(separatedBy: missing).count == 3
        }
        let stopped = try bench.framebus("broadcast", "stop", "--json").output
        #expect(stopped.contains(#""audio-app" : "pulse:monitor: "#), "\(stopped)")
        let result = try host.finish()
        #expect(result.errors.contains("it ended, without audio-app (pulse:monitor: "))
        // Once in each outage, however often it was tried.
        let lines = try log("host").split(separator: "\n").filter { $0.contains("pulse:monitor: ") }
        #expect(lines.filter { $0.contains("the capture of audio-app") }.count == 2, "\(lines)")
        let captures = try log("capture")
        #expect(captures.components(separatedBy: "sound format").count == 2, "\(captures)")
      }
    }

    /// Said once for each change, while the capture continues.
    @Test(arguments: [
      (["set-source-mute", "@DEFAULT_MONITOR@"], "1", "0", "muted the device"),
      (["set-source-volume", "@DEFAULT_MONITOR@"], "0", "100%", "muted the device"),
      (["set-sink-mute", "@DEFAULT_SINK@"], "1", "0", "muted the output"),
    ])
    func broadcastReportsMutedDevice(
      command: [String], mute: String, unmute: String, why: String
    ) throws {
      try withWatchdog {
        func server(_ value: String) throws {
          let result = try RunningProgram("pactl", command + [value], environment: environment)
            .finish()
          #expect(result.status == .exited(0), "\(result.errors)")
        }
        try server(mute)
        let host = try bench.broadcast(
          to: "file:\(bench.file("out.mkv"))", ["--app-source", "pulse:monitor"],
          environment: environment)
        let missing = "no audio-app: pulse:monitor: the sound server has \(why)"
        try host.waitForErrors(missing)
        let status = try bench.framebus("broadcast", "status").output
        #expect(status.contains(/no sound +audio-app: pulse:monitor: the sound server/))
        try server(unmute)
        try host.waitForErrors("audio-app is captured again")
        #expect(try !bench.framebus("broadcast", "status").output.contains("no sound"))
        try server(mute)
        try waitUntil("it is said again: \(host.transcript)") {
          host.errors.text.components(separatedBy: missing).count == 3
        }
        let stopped = try bench.framebus("broadcast", "stop", "--json").output
        #expect(stopped.contains(why), "\(stopped)")
        let result = try host.finish()
        #expect(result.errors.contains("it ended, without audio-app (pulse:monitor: the sound"))
      }
    }

    /// Only its capture knows when the device can be heard again.
    @Test func nextHostLeavesReportOfMutedDevice() throws {
      try withWatchdog {
        let muted = try RunningProgram(
          "pactl", ["set-source-mute", "@DEFAULT_MONITOR@", "1"], environment: environment
        ).finish()
        #expect(muted.status == .exited(0), "\(muted.errors)")
        func host() throws -> RunningProgram {
          try bench.broadcast(
            to: "file:\(bench.file("out.mkv"))",
            ["--app-source", "pulse:monitor", "--duration", "20"], environment: environment)
        }
        let first = try host()
        try first.waitForErrors("no audio-app: pulse:monitor: the sound server has muted")
        _ = try first.end(with: SIGKILL)
        // Until the end, its capture has run for 5 s, and counts as working.
        let result = try host().finish()
        #expect(result.status == .exited(0) && result.errors.contains("taking over"))
        #expect(!result.errors.contains("captured again"), "\(result.errors)")
        #expect(result.errors.contains("it ended, without audio-app (pulse:monitor: the sound"))
      }
    }

    @Test func missingSoundServerIsNamedInError() throws {
      server.process.end(with: 15)
      let capture = try RunningProgram(
        "framebus", ["capture", "pulse:mic", "--root", bench.root.path],
        environment: environment)
      let reader = try RunningProgram(
        "framebus", ["upload", "null", "--root", bench.root.path, "--stream", "audio.mic"])
      let result = try capture.finish()
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("pulse"), "\(result.errors)")
      _ = try reader.finish()
    }
  }

  /// The thread that receives sound must never wait for this product's other threads.
  @Suite struct HandOverTests {
    @Test func soundThreadMakesNoBlockingCall() throws {
      let root = try TemporaryRoot()
      let trace = root.file("trace")
      let program = try pathOfProgram("SoundThread")
      let result = try RunningProgram("strace", ["-f", "-o", trace, program]).finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
      let begin = try #require(lines.first { $0.contains("begin") })
      let thread = begin.prefix { $0 != " " } + " "
      let calls = lines.filter { $0.hasPrefix(thread) }
        .drop { !$0.contains("\"begin") }.dropFirst().prefix { !$0.contains("\"end") }
      // Each is a write of eight bytes to a non-blocking eventfd.
      #expect(calls.count > 100)
      let others = calls.filter { !$0.contains("write(") || !$0.contains(", 8") }
        .filter { !$0.contains("resumed>") }
      #expect(others.isEmpty)
      #expect(lines.contains { $0.contains("eventfd2(0, EFD_CLOEXEC|EFD_NONBLOCK)") })
    }
  }
#endif
