#if Media
  import AppGroup
  import Foundation
  import FrameBus
  import Platform
  import Synchronization
  import TestSupport
  import Testing

  /// A group that captures streams of servers nobody here wrote.
  final class NetworkBench: Sendable {
    let root: TemporaryRoot
    let group: AppGroup
    private let ports = Mutex<[OwnPort]>([])

    init() throws {
      root = try TemporaryRoot()
      group = try AppGroup.create(.local, root: root.path)
    }

    /// A port for UDP and TCP that is this bench's own.
    func port() throws -> Int {
      let port = try OwnPort()
      ports.withLock { $0.append(port) }
      return port.number
    }

    func capture(_ arguments: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus", ["capture"] + arguments + ["--root", root.path],
        environment: ["FRAMEBUS_GROUP": nil, "FRAMEBUS_LOG_LEVEL": "trace"])
    }

    func seal(
      _ secret: String, _ name: String, _ account: String, for role: String = "capture"
    ) throws {
      let pipe = try OneWayPipe()
      try writeFully(Array(secret.utf8), to: pipe.writeEnd.number)
      let end = try pipe.readEnd.duplicate()
      _ = pipe.takeWriteEnd()
      let result = try RunningProgram(
        "framebus",
        ["credential", "add", "--root", root.path, "--recipient", role, name, account],
        environment: ["FRAMEBUS_GROUP": nil], input: .descriptor(end.number)
      ).finish()
      guard result.status.isSuccess else { throw HarnessError(result.errors) }
    }

    /// The error of a capture that must fail.
    func failure(_ arguments: String...) throws -> String {
      let result = try RunningProgram(
        "framebus", ["capture"] + arguments + ["--root", root.path],
        environment: ["FRAMEBUS_GROUP": nil]
      ).finish()
      #expect(result.status == .exited(1), "\(result.errors)")
      return result.errors
    }

    func subscriber(
      to stream: String = "screen", _ change: (inout SubscriberOptions) -> Void = { _ in }
    ) throws -> Subscriber {
      var options = SubscriberOptions()
      options.policy = .keepLatest(4)
      options.holds = 1
      change(&options)
      return try Subscriber(
        StreamName(stream), in: group, options: options,
        waitingForPublisherUntil: .after(.seconds(60)))
    }

    /// Everything that the group's files contain.
    func contains(_ text: String) throws -> Bool {
      try run("grep", ["-r", "-q", "-a", "-F", text, root.path]).status == .exited(0)
    }

    // MARK: Senders

    /// A moving picture and a tone, encoded by ffmpeg as it runs.
    static func encoder(
      _ size: String, _ codec: String = "libx264 -preset ultrafast -tune zerolatency",
      format: String = "mpegts", seconds: Int = 300
    ) -> String {
      "ffmpeg -v error -nostdin -re -f lavfi -i testsrc2=size=\(size):rate=25 -f lavfi -i "
        + "sine=frequency=1000 -t \(seconds) -c:v \(codec) -pix_fmt yuv420p -g 25 -c:a aac "
        + "-f \(format)"
    }

    /// SRT's own program, with what some commands write.
    func srtSender(_ address: String, _ commands: String...) throws -> RunningProgram {
      let all = commands.map { $0 + " -" }.joined(separator: "; ")
      return try RunningProgram(
        "bash",
        ["-c", "exec srt-live-transmit -q file://con '\(address)' < <(\(all))"])
    }

    /// The same, at a port that it has bound.
    func srtServer(
      _ port: Int, _ commands: String..., parameters: String = ""
    ) throws -> RunningProgram {
      let all = commands.map { $0 + " -" }.joined(separator: "; ")
      let server = try RunningProgram(
        "bash",
        [
          "-c",
          "exec srt-live-transmit -q file://con "
            + "'srt://127.0.0.1:\(port)?mode=listener\(parameters)' < <(\(all))",
        ])
      try waitForSocket(port, "udp", server)
      return server
    }

    /// Waits until a socket is bound to the port (proc_net(5)).
    func waitForSocket(_ port: Int, _ kind: String, _ server: RunningProgram) throws {
      let end = ":" + String(format: "%04X", port)
      try waitUntil("a socket at \(kind) port \(port): \(server.transcript)") {
        try String(contentsOfFile: "/proc/self/net/\(kind)", encoding: .utf8)
          .split(separator: "\n").contains { line in
            line.split(separator: " ").dropFirst().first?.hasSuffix(end) == true
          }
      }
    }
  }

  extension NetworkBench {
    /// What every kind of server's stream must bring.
    func expectPicturesAndSound(of capture: RunningProgram, size: String) throws {
      var pictures = try subscriber()
      var sound = try subscriber(to: "audio.app")
      var times: [Int64] = []
      for _ in 0..<30 {
        guard case .frame(let lease) = try pictures.next(until: .after(.seconds(60))) else {
          throw HarnessError("no frame came: \(capture.transcript)")
        }
        #expect("\(lease.format.width)x\(lease.format.height)" == size)
        #expect(lease.metadata.capturedAtNs <= lease.publishedAtNs)
        times.append(lease.metadata.ptsNs)
      }
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
      try waitUntil("there is a tone") { try sound.takeLoudness() > 2_000 }
    }

    /// While a server is away, both streams are paused, and `framebus streams` says why.
    func expectPause() throws {
      let reason = "another machine that is away"
      try waitUntil("the streams are paused") {
        let listed = try output(of: "framebus", ["streams", "--root", root.path])
        return listed.split(separator: "\n").count { $0.contains(reason) } == 2
      }
    }

    func expectAbsence(of secret: String, after capture: RunningProgram) throws {
      let arguments = try output(of: "ps", ["-e", "-o", "args"]).split(separator: "\n")
        .filter { $0.contains("framebus") }
      #expect(!arguments.contains { $0.contains(secret) })
      let result = try capture.end(with: Signal.terminate)
      #expect(!(result.errors + result.output).contains(secret))
      let log = try output(of: "framebus", ["log", "--level", "trace", "--root", root.path])
      #expect(log.contains("\"decodebin\""), "the log has no lines of GStreamer")
      #expect(!log.contains(secret))
      #expect(try !contains(secret))
    }
  }

  extension NetworkBench {
    /// An endpoint on aiortc (Tests/Tools/whep_server.py).
    func whepServer(_ port: Int, _ settings: String...) throws -> RunningProgram {
      let server = try RunningProgram(
        "/usr/bin/python3", [tool("whep_server.py"), "\(port)"] + settings)
      try server.waitForOutput("listening")
      return server
    }
  }

  extension Subscriber {
    /// The size of the next picture.
    mutating func takeSize() throws -> String {
      guard case .frame(let lease) = try next(until: .after(.seconds(60))) else {
        throw HarnessError("no frame came")
      }
      return "\(lease.format.width)x\(lease.format.height)"
    }

    /// The loudest of the next samples, which are 16 bits wide.
    mutating func takeLoudness() throws -> Int {
      guard case .frame(let lease) = try next(until: .after(.seconds(60))) else {
        throw HarnessError("no sound came")
      }
      return lease.loudness
    }
  }

  extension FrameLease {
    /// The loudest of the samples, which are 16 bits wide.
    var loudness: Int {
      let bytes = bytes
      return stride(from: 0, to: bytes.byteCount - 1, by: 2).map { offset in
        // SAFETY: any bytes are an integer; the load itself is bounds-checked.
        Int(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Int16.self).magnitude)
      }.max() ?? 0
    }
  }
#endif
