#if Media
  import Foundation
  import FrameBus
  import Platform
  import Synchronization
  import TestSupport
  import Testing

  /// `capture srt:` before senders of SRT's own programs.
  @Suite struct SRTCaptureTests {
    private let bench: NetworkBench

    init() throws { bench = try NetworkBench() }

    private static let passphrase = "correct-horse-battery"

    @Test func picturesAndSoundOfAnEncryptedStreamArePublished() throws {
      try withWatchdog {
        try bench.seal(Self.passphrase, "srt", "cam")
        let port = try bench.port()
        let server = try bench.srtServer(
          port, NetworkBench.encoder("320x240"),
          parameters: "&passphrase=\(Self.passphrase)&pbkeylen=16")
        let capture = try bench.capture("srt://127.0.0.1:\(port)", "--secret", "srt/cam")
        var pictures = try bench.subscriber()
        var sound = try bench.subscriber(to: "audio.app")
        var times: [Int64] = []
        for _ in 0..<30 {
          guard case .frame(let lease) = try pictures.next(until: .after(.seconds(60))) else {
            throw HarnessError("no frame came: \(capture.transcript)")
          }
          #expect(lease.format.width == 320 && lease.format.height == 240)
          #expect(lease.metadata.capturedAtNs <= lease.publishedAtNs)
          times.append(lease.metadata.ptsNs)
        }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        try waitUntil("there is a tone") { try sound.takeLoudness() > 2_000 }
        // The passphrase is in no file, and in no process's arguments.
        let arguments = try output(of: "ps", ["-e", "-o", "args"]).split(separator: "\n")
          .filter { $0.contains("framebus") }
        #expect(!arguments.contains { $0.contains(Self.passphrase) })
        let result = try capture.end(with: Signal.terminate)
        #expect(!(result.errors + result.output).contains(Self.passphrase))
        #expect(try !bench.contains(Self.passphrase))
        let log = try output(
          of: "framebus", ["log", "--level", "trace", "--root", bench.root.path])
        #expect(log.contains("srtsrc"), "the log has no lines of GStreamer")
        try server.end(with: Signal.kill)
      }
    }

    @Test func eachFailureHasItsOwnText() throws {
      try withWatchdog {
        try bench.seal(Self.passphrase, "srt", "right")
        try bench.seal("wrong-horse-battery", "srt", "wrong")
        let (locked, open) = (try bench.port(), try bench.port())
        let first = try bench.srtServer(
          locked, NetworkBench.encoder("320x240"),
          parameters: "&passphrase=\(Self.passphrase)&pbkeylen=16")
        let second = try bench.srtServer(open, NetworkBench.encoder("320x240"))
        let wrong = try bench.failure("srt://127.0.0.1:\(locked)", "--secret", "srt/wrong")
        #expect(wrong.contains("the passphrase is wrong"), "\(wrong)")
        #expect(!wrong.contains("horse"))
        let missing = try bench.failure("srt://127.0.0.1:\(locked)")
        #expect(missing.contains("the other side has a passphrase"), "\(missing)")
        let needless = try bench.failure("srt://127.0.0.1:\(open)", "--secret", "srt/right")
        #expect(needless.contains("the other side has no passphrase"), "\(needless)")
        let refused = try bench.failure("srt://127.0.0.1:\(try bench.port())")
        #expect(refused.contains("connection refused"), "\(refused)")
        let unknown = try bench.failure("srt://host.invalid:9000")
        #expect(unknown.contains("no address has this name"), "\(unknown)")
        try first.end(with: Signal.kill)
        try second.end(with: Signal.kill)
      }
    }

    @Test func missingRouteAndSilentAddressHaveTheirOwnTexts() throws {
      try withWatchdog {
        let network = try OwnNetwork()
        func failure(_ address: String) throws -> String {
          try network.start(
            "framebus", ["capture", address, "--root", bench.root.path],
            environment: ["FRAMEBUS_GROUP": nil]
          ).finish().errors
        }
        let missing = try failure("srt://192.0.2.1:9000")
        #expect(missing.contains("no route to this address"), "\(missing)")
        // Packets to it are dropped without an answer.
        for words in ["address add 192.0.2.2/32 dev lo", "route add blackhole 192.0.2.128/25"] {
          _ = try network.start("ip", words.split(separator: " ").map(String.init)).finish()
        }
        _ = try network.start(
          "iptables", ["-w", "-A", "INPUT", "-d", "192.0.2.2", "-j", "DROP"]
        ).finish()
        let silent = try failure("srt://192.0.2.2:9000")
        #expect(silent.contains("no answer"), "\(silent)")
      }
    }

    @Test func secretInTheAddressIsRefused() throws {
      for address in ["srt://h:1?passphrase=x", "srt://h:1?pass%70hrase=x", "srt://u:p@h:1"] {
        let result = try run("framebus", ["capture", address])
        #expect(result.status == .exited(2))
        #expect(result.errors.contains("--secret"), "\(result.errors)")
      }
      let other = try run("framebus", ["capture", "test", "--secret", "srt/cam"])
      #expect(other.status == .exited(2))
      #expect(other.errors.contains("--secret: no effect on the source test"), "\(other.errors)")
    }

    @Test func listenerPublishesWhatASenderBrings() throws {
      try withWatchdog {
        let port = try bench.port()
        let capture = try bench.capture("srt://127.0.0.1:\(port)?mode=listener")
        try capture.waitForErrors("waits for a sender")
        try bench.waitForSocket(port, "udp", capture)
        let first = try bench.srtSender("srt://127.0.0.1:\(port)", NetworkBench.encoder("320x240"))
        let events = Mutex<[StreamEvent]>([])
        var pictures = try bench.subscriber {
          $0.onEvent = { event in events.withLock { $0.append(event) } }
        }
        #expect(try pictures.takeSize() == "320x240")
        try first.end(with: Signal.kill)
        try capture.waitForErrors("the stream is paused")
        try bench.expectPause()
        let second = try bench.srtSender("srt://127.0.0.1:\(port)", NetworkBench.encoder("160x120"))
        try waitUntil("the other sender's pictures come") {
          try pictures.takeSize() == "160x120"
        }
        #expect(events.withLock { $0.contains(.paused(.unavailable)) && $0.contains(.resumed) })
        try capture.end(with: Signal.terminate)
        try second.end(with: Signal.kill)
      }
    }

    @Test func callerReconnectsToARestartedServer() throws {
      try withWatchdog {
        let port = try bench.port()
        let first = try bench.srtServer(port, NetworkBench.encoder("320x240"))
        let capture = try bench.capture("srt://127.0.0.1:\(port)")
        let events = Mutex<[StreamEvent]>([])
        var pictures = try bench.subscriber {
          $0.onEvent = { event in events.withLock { $0.append(event) } }
        }
        #expect(try pictures.takeSize() == "320x240")
        try first.end(with: Signal.kill)
        try capture.waitForErrors("the stream is paused")
        try bench.expectPause()
        let second = try bench.srtServer(port, NetworkBench.encoder("160x120"))
        try waitUntil("the other server's pictures come") {
          try pictures.takeSize() == "160x120"
        }
        #expect(events.withLock { $0.contains(.paused(.unavailable)) && $0.contains(.resumed) })
        try capture.end(with: Signal.terminate)
        try second.end(with: Signal.kill)
      }
    }

    @Test func sizeAndCodecMayChangeWithinAConnection() throws {
      try withWatchdog {
        let port = try bench.port()
        let server = try bench.srtServer(
          port, NetworkBench.encoder("320x240", seconds: 8),
          NetworkBench.encoder("160x120", seconds: 8),
          NetworkBench.encoder("192x144", "mpeg2video"))
        let capture = try bench.capture("srt://127.0.0.1:\(port)")
        var pictures = try bench.subscriber()
        for size in ["320x240", "160x120", "192x144"] {
          try waitUntil("pictures of \(size): \(capture.transcript)") {
            try pictures.takeSize() == size
          }
        }
        try capture.end(with: Signal.terminate)
        try server.end(with: Signal.kill)
      }
    }

    @Test func streamThatIsNoneEndsWithAnError() throws {
      try withWatchdog {
        let port = try bench.port()
        let server = try bench.srtServer(
          port, "cat /dev/urandom | head -c 20000000; sleep 300; true")
        let error = try bench.failure("srt://127.0.0.1:\(port)")
        #expect(
          error.contains("is not a video") || error.contains("nothing that can be shown"),
          "\(error)")
        try server.end(with: Signal.kill)
      }
    }
  }
#endif
