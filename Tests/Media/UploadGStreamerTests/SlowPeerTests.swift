#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Peers behind a slow link, or that have stopped: the figures say what arrives.
  @Suite struct SlowPeerTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// A network of its own, whose only link carries one megabit a second.
    private func slowNetwork() throws -> RunningProgram {
      let network = try RunningProgram(
        "unshare",
        [
          "--net", "sh", "-c",
          "ip link set lo mtu 1500 up && tc qdisc add dev lo root tbf rate 1mbit burst 8kb "
            + "latency 250ms && echo ready && exec sleep 600",
        ])
      try network.waitForOutput("ready")
      return network
    }

    /// Noise, which needs more than the link carries.
    private func publish() throws -> RunningProgram {
      try RunningProgram(
        "UploadTestPublisher", [bench.root.path, "screen", "live", "NOIS:320x240:6000:33333"])
    }

    private func upload(
      to address: String, in network: RunningProgram, _ arguments: [String] = []
    ) throws -> RunningProgram {
      try RunningProgram(
        "nsenter",
        [
          "--net=/proc/\(network.processID)/ns/net", pathOfProgram("framebus"), "upload", address,
          "--root", bench.root.path, "--json", "--bitrate", "2500k",
        ] + arguments)
    }

    private struct Result: Decodable {
      struct Network: Decodable {
        let target_bits_per_second: Int
        let round_trip_ns: UInt64?
        let lost_share: Double?
        let retransmitted_packets: Int
      }
      let bits_per_second: Double
      let drops: Int
      let network: Network?
    }

    private func result(of upload: RunningProgram) throws -> Result {
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(upload.transcript)")
      return try JSONDecoder().decode(Result.self, from: Data(result.output.utf8))
    }

    /// Bytes in the kernel that this port's peer has not acknowledged (proc_net_tcp(5)).
    private func unacknowledgedBytes(to port: Int, in network: RunningProgram) throws -> Int {
      let table = try String(
        contentsOfFile: "/proc/\(network.processID)/net/tcp", encoding: .utf8)
      let peer = String(format: ":%04X", port)
      return table.split(separator: "\n").map { $0.split(separator: " ") }
        .filter { $0.count > 4 && $0[2].hasSuffix(peer) }
        .compactMap { Int($0[4].prefix { $0 != ":" }, radix: 16) }.max() ?? 0
    }

    /// Before, megabytes waited in the kernel, and a picture was eight seconds old when it arrived.
    @Test(arguments: [[], ["--stream", "screen", "--stream", "audio.app"]])
    func rtmpQueueOnSlowLinkStaysShort(streams: [String]) throws {
      let network = try slowNetwork()
      let port = try bench.freePort()
      let server = try bench.nginx(port, network: network)
      let publisher = try publish()
      let sound = streams.isEmpty ? nil : try bench.capture("beep:1000")
      let upload = try upload(to: "rtmp://127.0.0.1:\(port)/live/cam", in: network, streams)
      var longest = 0
      try waitUntil("drops: \(upload.transcript)") {
        longest = max(longest, try unacknowledgedBytes(to: port, in: network))
        return upload.errors.text.contains(/\d\d\d drops/)
      }
      #expect(longest < 512 << 10)
      let result = try result(of: upload)
      #expect(result.bits_per_second < 1_300_000 && result.drops >= 100, "\(result)")
      #expect(try #require(result.network?.round_trip_ns) > 0)
      #expect(result.network?.target_bits_per_second == 2_500_000)
      try publisher.end(with: SIGTERM)
      try sound?.end(with: SIGTERM)
      try server.end(with: SIGQUIT)
      try network.end(with: SIGKILL)
    }

    @Test func figuresShowThatRTMPServerHasStopped() throws {
      let port = try bench.freePort()
      let server = try bench.nginx(port)
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus",
        [
          "upload", "rtmp://127.0.0.1:\(port)/live/cam", "--root", bench.root.path, "--bitrate",
          "300k",
        ])
      try upload.waitForErrors("sending live")
      server.process.send(signal: SIGSTOP)
      try upload.waitForErrors(" 0.0 fps, 0.0 Mbit/s")
      server.process.send(signal: SIGCONT)
      // Frames that no one received are counted with the next one.
      try waitUntil("drops: \(upload.transcript)") {
        upload.errors.text.contains(/, [1-9]\d+ drops/)
      }
      _ = try upload.end(with: SIGTERM)
      try server.end(with: SIGQUIT)
      try pictures.end(with: SIGTERM)
    }

    @Test func srtFiguresShowWhatArrives() throws {
      let network = try slowNetwork()
      let port = try bench.freePort()
      let receiver = try bench.receiveSRT(port, "got.ts", network: network)
      let publisher = try publish()
      let upload = try upload(to: "srt://127.0.0.1:\(port)", in: network)
      try waitUntil("losses: \(upload.transcript)") {
        upload.errors.text.contains(/[2-9]\d\.\d % lost, [1-9]\d* retransmitted/)
      }
      let result = try result(of: upload)
      #expect(result.bits_per_second < 1_500_000, "\(result)")
      #expect(try #require(result.network?.round_trip_ns) > 0)
      #expect(try #require(result.network?.retransmitted_packets) > 0)
      try publisher.end(with: SIGTERM)
      try receiver.end(with: SIGTERM)
      try network.end(with: SIGKILL)
    }
  }
#endif
