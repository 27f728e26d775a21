#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// A broadcast by the built-in extension to several destinations, confined as by default.
  @Suite struct BroadcastDestinationsTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    private struct Status: Decodable {
      struct Destination: Decodable {
        let output: String
        let state: String
        let bytes: Int
        let bitsPerSecond: Int
        let drops: Int
        let targetBitsPerSecond: Int?
        let roundTripNs: Int?
      }
      let destinations: [Destination]
    }

    private func destinations() throws -> [Status.Destination] {
      let text = try bench.framebus("broadcast", "status", "--json").output
      return try JSONDecoder().decode(Status.self, from: Data(text.utf8)).destinations
    }

    private func start(_ destinations: [String], writes: [String]) throws -> RunningProgram {
      func list(_ texts: [String]) -> String {
        "[" + texts.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
      }
      let manifest = bench.file("up.toml")
      try """
      version = 1
      id = "up"
      executable = "framebus-upload"
      arguments = \(list(destinations))
      samples = ["video", "audio-app"]
      writes = \(list(writes))
      """.write(toFile: manifest, atomically: true, encoding: .utf8)
      try bench.framebus("extension", "register", manifest)
      return try RunningProgram(
        "framebus",
        [
          "--root", bench.root.path, "broadcast", "start", "up", "--source", "test:bars", "--yes",
          "--size", "320x240", "--fps", "10", "--app-source", "tone:440",
        ])
    }

    @Test func statusShowsEachDestinationOfABroadcast() throws {
      try withWatchdog {
        let (file, web) = (bench.file("a.mkv"), bench.file("web"))
        try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: false)
        let port = try bench.freePort()
        let receiver = try bench.receiveSRT(port, "got.ts")
        let host = try start(
          ["file:\(file)", "hls:\(web)", "srt://127.0.0.1:\(port)"], writes: [file, web])
        #expect(host.name.contains("up"))
        func waitForStates(_ states: [String]) throws {
          var found: [Status.Destination] = []
          try waitUntil("\(states): \(found) \(host.transcript)") {
            found = try destinations()
            return found.map(\.state) == states
          }
        }
        try waitForStates(["delivering", "delivering", "delivering"])
        try waitUntil("rates: \(host.transcript)") {
          try destinations().allSatisfy { $0.bitsPerSecond > 0 && $0.bytes > 10_000 }
        }
        let peer = try #require(try destinations().last)
        #expect(peer.targetBitsPerSecond == 500_000 && peer.roundTripNs ?? 0 > 0, "\(peer)")
        let text = try bench.framebus("broadcast", "status").output
        #expect(
          text.contains(/srt:.*\d+: delivering, [\d.]+ MB, \d+ drops?, [\d.]+ Mbit\/s, target 0.5/),
          "\(text)")
        try receiver.end(with: SIGKILL)
        try waitForStates(["delivering", "delivering", "waiting"])
        try waitUntil("frames are dropped") { try destinations().last?.drops ?? 0 > 0 }
        let again = try bench.receiveSRT(port, "again.ts")
        try waitForStates(["delivering", "delivering", "delivering"])
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        try again.end(with: SIGTERM)
        let ended = try destinations()
        #expect(ended.map(\.state) == ["ended", "ended", "ended"])
        #expect(ended.map { $0.drops > 0 } == [false, false, true], "\(ended)")
        for path in [file, web + "/index.m3u8", bench.file("again.ts")] {
          #expect(try Heard(path).codecs.contains("h264"), "\(path)")
        }
      }
    }

    /// Alone it has the same figures.
    @Test func statusShowsTheOnlyDestination() throws {
      try withWatchdog {
        let file = bench.file("a.mkv")
        let host = try start(["file:\(file)"], writes: [file])
        try waitUntil("a rate: \(host.transcript)") {
          try destinations().first.map { $0.bitsPerSecond > 0 && $0.state == "delivering" } == true
        }
        #expect(try destinations().map(\.output) == [file])
        let log = try bench.framebus("broadcast", "status").output
        #expect(log.contains("a.mkv: delivering, "), "\(log)")
        try bench.framebus("broadcast", "stop")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }
  }
#endif
