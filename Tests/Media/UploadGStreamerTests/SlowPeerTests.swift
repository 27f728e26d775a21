#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Peers behind a slow link, or that have stopped: the figures say what arrives.
  @Suite struct SlowPeerTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// A network whose only link carries one megabit a second.
    private func slowNetwork() throws -> OwnNetwork {
      try OwnNetwork(loopback: [
        "ip link set lo mtu 1500 up",
        "tc qdisc add dev lo root tbf rate 1mbit burst 8kb latency 250ms",
      ])
    }

    /// Noise, which needs more than the link carries.
    private func publish() throws -> RunningProgram {
      try RunningProgram(
        "UploadTestPublisher", [bench.root.path, "screen", "live", "NOIS:320x240:6000:33333"])
    }

    private func upload(
      to address: String, in network: OwnNetwork, _ arguments: [String] = []
    ) throws -> RunningProgram {
      try network.start(
        "framebus",
        ["upload", address, "--root", bench.root.path, "--json", "--bitrate", "2500k"] + arguments)
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
    private func unacknowledgedBytes(to port: Int, in network: OwnNetwork) throws -> Int {
      let peer = String(format: ":%04X", port)
      return try network.table("tcp").split(separator: "\n").map { $0.split(separator: " ") }
        .filter { $0.count > 4 && $0[2].hasSuffix(peer) }
        .compactMap { Int($0[4].prefix { $0 != ":" }, radix: 16) }.max() ?? 0
    }

    /// Ends the network's slowness.
    private func free(_ network: OwnNetwork) throws {
      let result = try network.start("tc", ["qdisc", "delete", "dev", "lo", "root"]).finish()
      #expect(result.status.isSuccess, "\(result.errors)")
    }

    /// Waits until the bitrate fits the link, and until it is the requested one once that is free.
    private func expectThatBitrateFollows(
      _ upload: RunningProgram, in network: OwnNetwork, whileSlow: () throws -> Void = {}
    ) throws {
      try waitUntil("a low bitrate: \(upload.transcript)") {
        try whileSlow()
        return upload.errors.text.contains("target 0.")
      }
      try free(network)
      try waitUntil("the requested bitrate: \(upload.transcript)") {
        let last = upload.errors.text.split(separator: "\n").last { $0.contains("target ") }
        return last?.contains("target 2.5 Mbit/s") == true
      }
    }

    /// Before, megabytes waited in the kernel, and a picture was eight seconds old when it arrived;
    /// and then pictures were dropped, because the bitrate stayed.
    @Test(arguments: [[], ["--stream", "screen", "--stream", "audio.app"]])
    func rtmpQueueOnSlowLinkStaysShort(streams: [String]) throws {
      let network = try slowNetwork()
      let port = try bench.freePort()
      let server = try bench.nginx(port, network: network)
      let publisher = try publish()
      let sound = streams.isEmpty ? nil : try bench.capture("beep:1000")
      let upload = try upload(to: "rtmp://127.0.0.1:\(port)/live/cam", in: network, streams)
      var longest = 0
      try expectThatBitrateFollows(upload, in: network) {
        longest = max(longest, try unacknowledgedBytes(to: port, in: network))
      }
      #expect(longest < 512 << 10)
      let result = try result(of: upload)
      #expect(try #require(result.network?.round_trip_ns) > 0)
      #expect(try #require(result.network?.target_bits_per_second) > 1_000_000)
      try publisher.end(with: SIGTERM)
      try sound?.end(with: SIGTERM)
      try server.end(with: SIGQUIT)
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

    /// Sound that has entered meanwhile waits in the muxer for pictures.
    @Test func picturesAndSoundGoOnOnceRTMPServerDoes() throws {
      let port = try bench.freePort()
      let server = try bench.nginx(port)
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let sound = try bench.capture("tone")
      let upload = try RunningProgram(
        "framebus",
        [
          "upload", "rtmp://127.0.0.1:\(port)/live/cam", "--root", bench.root.path, "--bitrate",
          "300k", "--stream", "screen", "--stream", "audio.app",
        ])
      try upload.waitForErrors("sending live")
      server.process.send(signal: SIGSTOP)
      // More sound than pictures is accepted.
      try waitUntil("sound that waits: \(upload.transcript)") {
        upload.errors.text.split(separator: "\n").suffix(3).count { $0.contains(", 0.0 fps") } == 3
      }
      server.process.send(signal: SIGCONT)
      func frameCount() -> Int {
        let line = upload.errors.text.split(separator: "\n").last { $0.contains(" frames") }
        return line.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
      }
      let count = frameCount()
      try waitUntil("more than \(count) frames: \(upload.transcript)") {
        frameCount() >= count + 60
      }
      _ = try upload.end(with: SIGTERM)
      try server.end(with: SIGQUIT)
      try pictures.end(with: SIGTERM)
      try sound.end(with: SIGTERM)
    }

    @Test func srtFiguresShowWhatArrives() throws {
      let network = try slowNetwork()
      let port = try bench.freePort()
      let receiver = try bench.receiveSRT(port, "got.ts", network: network)
      let publisher = try publish()
      let upload = try upload(to: "srt://127.0.0.1:\(port)", in: network)
      try waitUntil("losses, and less than is sent: \(upload.transcript)") {
        upload.errors.text.contains(
          /\ [01]\.\d Mbit\/s, .*[2-9]\d\.\d % lost, [1-9]\d* retransmitted/)
      }
      try expectThatBitrateFollows(upload, in: network)
      let result = try result(of: upload)
      #expect(try #require(result.network?.round_trip_ns) > 0)
      #expect(try #require(result.network?.retransmitted_packets) > 0)
      try publisher.end(with: SIGTERM)
      try receiver.end(with: SIGTERM)
    }
  }
#endif
