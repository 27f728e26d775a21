#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// The destination `udp:`, with independent receivers.
  @Suite struct UDPTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// A program that receives datagrams into a file.
    private struct Receiver {
      let program: RunningProgram
      let port: Int

      init(at address: String, _ path: String) throws {
        program = try RunningProgram("/usr/bin/python3", [tool("udp_receiver.py"), address, path])
        try program.waitForOutput("\n")
        port = try #require(Int(program.output.text.prefix { $0 != "\n" }))
      }

      /// - Returns: the sizes of the datagrams, the seconds from first to last, the time to live.
      func end() throws -> [Substring] {
        let result = try program.end(with: SIGTERM)
        #expect(result.status == .exited(0), "\(result.errors)")
        return result.output.split(separator: "\n").last?.split(separator: " ") ?? []
      }
    }

    /// The numbers that the test pattern drew, without frames that cannot be read.
    private func numbers(in name: String) throws -> [Int] {
      try output(
        of: "/usr/bin/python3", [tool("frame_numbers.py"), bench.file(name), "320", "240"]
      ).split(separator: "\n").compactMap { Int($0) }
    }

    private func expectFrames(in name: String) throws {
      let numbers = try numbers(in: name)
      #expect(numbers.count > 30 && Set(numbers).count > numbers.count / 2)
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 }, "\(numbers)")
      try bench.expectSoundAndPictures(in: name)
    }

    @Test(arguments: [
      ("127.0.0.1", "127.0.0.1", ""), ("::", "localhost", ""), ("::1", "[::1]", ""),
      ("239.255.77.7", "239.255.77.7", ""), ("239.255.77.7", "239.255.77.7", "?ttl=3"),
    ])
    func picturesAndSoundArrive(address: String, host: String, option: String) throws {
      let receiver = try Receiver(at: address, bench.file("got.ts"))
      try bench.sendFlashesAndBeeps(to: "udp:\(host):\(receiver.port)\(option)", seconds: 4)
      let figures = try receiver.end()
      // Seven packets of 188 bytes.
      #expect(figures.first == "1316")
      if address.hasPrefix("239") { #expect(figures.last == (option.isEmpty ? "1" : "3")) }
      try expectFrames(in: "got.ts")
    }

    /// The confined extension sends to a program that plays while it receives.
    @Test func confinedBroadcastReachesPlayer() throws {
      try withWatchdog {
        let port = try bench.freePort()
        let player = try RunningProgram(
          "ffmpeg",
          [
            "-v", "error", "-nostdin", "-i", "udp://127.0.0.1:\(port)", "-map", "0", "-c", "copy",
            "-f", "mpegts", "-flush_packets", "1", bench.file("got.ts"),
          ])
        let host = try bench.broadcast(to: "udp:127.0.0.1:\(port)", ["--app-source", "beep:1000"])
        try bench.waitForSound(150, in: bench.file("got.ts"), host)
        let status = try bench.framebus("broadcast", "status").output
        #expect(status.components(separatedBy: ", confined: on").count == 3, "\(status)")
        // It does not end while it waits for data.
        _ = try player.end(with: SIGINT)
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        try expectFrames(in: "got.ts")
      }
    }

    @Test func fileIsSentAtItsOwnSpeed() throws {
      let receiver = try Receiver(at: "127.0.0.1", bench.file("got.ts"))
      let publisher = try RunningProgram(
        "UploadTestPublisher", [bench.root.path, "screen", "lossless", "XR24:320x240:75:40000"])
      let upload = try RunningProgram(
        "framebus", ["upload", "udp:127.0.0.1:\(receiver.port)", "--root", bench.root.path])
      #expect(try upload.finish().status == .exited(0), "\(upload.transcript)")
      _ = try publisher.finish()
      let seconds = try #require(Double(receiver.end().dropFirst().first ?? ""))
      #expect(seconds > 2)
    }

    @Test func closedPortIsNoError() throws {
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus",
        [
          "upload", "udp:127.0.0.1:\(try bench.freePort())", "--root", bench.root.path,
          "--frames", "60", "--json",
        ])
      let result = try upload.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.output.contains("\"frames\":60"))
      try pictures.end(with: SIGTERM)
    }

    @Test(arguments: [
      ("udp:h", 2, "write udp:HOST:PORT"), ("udp::5004", 2, "write udp:HOST:PORT"),
      ("udp:::1:5004", 2, "write udp:HOST:PORT"), ("udp://h:5004", 2, "write udp:HOST:PORT"),
      ("udp:h:0", 2, "not a port"), ("udp:h:65536", 2, "not a port"), ("udp:h:+1", 2, "not a port"),
      ("udp:h:5004?ttl=256", 2, "N from 0 to 255"), ("udp:h:5004?pkt=9", 2, "N from 0 to 255"),
      ("udp:no-such-host.invalid:5004", 1, "no name server knows no-such-host.invalid"),
      // A broadcast address needs permission.
      ("udp:255.255.255.255:5004", 1, "Permission denied"),
    ])
    func wrongAddressIsRefused(_ destination: String, status: Int32, reason: String) throws {
      let result = try run("framebus", ["upload", destination, "--root", bench.root.path])
      #expect(result.status == .exited(status))
      #expect(result.errors.contains(reason), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1)
    }
  }
#endif
