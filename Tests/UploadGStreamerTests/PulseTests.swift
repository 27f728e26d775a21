#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// What a sound server plays, captured; each test has a server of its own, without a sound card.
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
      server = try RunningProgram(
        "pulseaudio",
        [
          "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
          "--disable-shm=yes", "-L", "module-null-sink sink_name=out rate=44100",
          "-L", "module-native-protocol-unix auth-anonymous=1 socket=\(socket)",
        ], environment: environment)
      try waitUntil("a sound server") { FileManager.default.fileExists(atPath: socket) }
    }

    @Test func whatTheMachinePlaysIsHeardAtTheReceiver() throws {
      // 997 Hz at 44,100 a second: server, capture and receiver convert, and it stays the same.
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

    @Test func aServerThatIsNotThereIsAnErrorThatNamesIt() throws {
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

  /// The thread that hears sound must never wait for anything of ours.
  @Suite struct HandOverTests {
    @Test func theThreadThatHearsMakesNoCallThatCouldBlock() throws {
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
      // Each is a write of eight bytes to an event that does not block.
      #expect(calls.count > 100)
      let others = calls.filter { !$0.contains("write(") || !$0.contains(", 8") }
        .filter { !$0.contains("resumed>") }
      #expect(others.isEmpty)
      #expect(lines.contains { $0.contains("eventfd2(0, EFD_CLOEXEC|EFD_NONBLOCK)") })
    }
  }
#endif
