#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// One upload by WHIP, SRT and HLS at once over a network with losses. Receivers, publishers and
  /// the uploader are killed: memory, descriptors, threads, files and latency stay as they were.
  @Suite(.serialized, .enabled(if: getuid() == 0, "only root can make networks"))
  struct EnduranceTests {
    /// `FRAMEBUS_UPLOAD_SOAK=600` goes on for 600 seconds, otherwise for two rounds.
    private static let seconds =
      ProcessInfo.processInfo.environment["FRAMEBUS_UPLOAD_SOAK"].flatMap(Int.init) ?? 0

    @Test func resourcesAndLatencyStayAsAtFirst() throws {
      let seed = TestSeed(for: "EnduranceTests")
      var random = seed.generator
      try withWatchdog(after: .seconds(Self.seconds * 2 + 600)) {
        let scene = try EnduranceScene()
        try scene.waitUntilAllReceive()
        try scene.restart(.uploader)
        let end = Deadline.after(.seconds(Self.seconds))
        var first: Footprint?
        var roundCount = 0
        repeat {
          for part in EnduranceScene.Part.restarted.shuffled(using: &random) {
            try scene.restart(part)
          }
          var now = try scene.footprint()
          if let first {
            // A connection that ended a moment ago may still be ending.
            try waitUntil("\(now) is as \(first), \(seed)\n\(scene.uploader.transcript)") {
              now = try scene.footprint()
              return now.isLike(first)
            }
          }
          first = first ?? now
          roundCount += 1
          print("endurance: round \(roundCount), \(now)")
        } while !end.isPast || roundCount < 2
        try scene.end()
      }
    }
  }

  /// What an upload needs, and how late its pictures are.
  private struct Footprint: CustomStringConvertible {
    let residentBytes: Int
    /// Without sockets.
    let descriptorCount: Int
    let socketCount: Int
    let threadCount: Int
    let fileCount: Int
    /// The age of the newest picture of each destination.
    let lags: [Double]

    private static let memorySlack = 24 << 20
    private static let countSlack = 8
    /// ICE has four for each network interface of the machine, of which other tests make some.
    private static let socketSlack = 40
    /// One segment of a playlist.
    private static let lagSlack = 2.0

    func isLike(_ first: Footprint) -> Bool {
      residentBytes <= first.residentBytes + Self.memorySlack
        && descriptorCount <= first.descriptorCount + Self.countSlack
        && socketCount <= first.socketCount + Self.socketSlack
        && threadCount <= first.threadCount + Self.countSlack
        && fileCount <= first.fileCount + Self.countSlack
        && zip(lags, first.lags).allSatisfy { $0 <= $1 + Self.lagSlack }
    }

    var description: String {
      let texts = lags.map { "\(($0 * 100).rounded() / 100) s" }.joined(separator: ", ")
      return "\(residentBytes >> 10) KiB, \(descriptorCount) descriptors, \(socketCount) sockets,"
        + " \(threadCount) threads, \(fileCount) files, lag \(texts)"
    }
  }

  /// Small pictures, which draw the machine's time, and a tone.
  private final class EnduranceScene {
    enum Part: CaseIterable {
      case uploader, whip, srt, pictures, sound
      /// The uploader's resources are those of one process.
      static let restarted: [Part] = [.whip, .srt, .pictures, .sound]
    }

    private static let size = (width: 160, height: 120)
    private static let srtPort = 9000
    private let root: TemporaryRoot
    private let network: NetworkNamespace
    private let address: String
    private var server: WebServer
    private var receiver: RunningProgram
    private var captures: [Part: RunningProgram] = [:]
    private(set) var uploader: RunningProgram

    init() throws {
      root = try TemporaryRoot()
      network = try NetworkNamespace()
      try network.loseDatagrams(0.02)
      try FileManager.default.createDirectory(
        atPath: root.file("web"), withIntermediateDirectories: false)
      server = try Self.server(on: 0, network)
      receiver = try Self.receiver(root, network)
      address = server.address("whip")
      captures = try [.pictures: Self.capture(.pictures, root), .sound: Self.capture(.sound, root)]
      uploader = try Self.upload(to: address, root, network)
    }

    private static func server(on port: Int, _ network: NetworkNamespace) throws -> WebServer {
      try WebServer("whip_server.py", ["\(port)", "times=yes", "arrivals=yes"], in: network)
    }

    private static func receiver(
      _ root: TemporaryRoot, _ network: NetworkNamespace
    ) throws -> RunningProgram {
      let source = "srt://\(network.address):\(srtPort)?mode=listener"
      return try network.start(
        "sh",
        ["-c", "exec srt-live-transmit -q '\(source)' file://con > '\(root.file("got.ts"))'"])
    }

    private static func capture(_ part: Part, _ root: TemporaryRoot) throws -> RunningProgram {
      let words =
        part == .sound
        ? ["tone:440"] : ["test", "--size", "\(size.width)x\(size.height)", "--fps", "10"]
      return try RunningProgram("framebus", ["capture"] + words + ["--root", root.path])
    }

    private static func upload(
      to address: String, _ root: TemporaryRoot, _ network: NetworkNamespace
    ) throws -> RunningProgram {
      try RunningProgram(
        "framebus",
        [
          "upload", "whip:\(address)", "srt://\(network.address):\(srtPort)",
          "hls:\(root.file("web"))", "--allow-http", "--bitrate", "200k", "--lost-after", "2",
          "--stream", "screen", "--stream", "audio.app", "--json", "--root", root.path,
        ])
    }

    /// Kills a part, starts it again, and waits until all receive again.
    func restart(_ part: Part) throws {
      switch part {
      case .uploader:
        try uploader.end(with: SIGKILL)
        uploader = try Self.upload(to: address, root, network)
      case .whip:
        try server.program.end(with: SIGKILL)
        server = try Self.server(on: server.port, network)
      case .srt:
        try receiver.end(with: SIGKILL)
        receiver = try Self.receiver(root, network)
      case .pictures, .sound:
        try captures[part]?.end(with: SIGKILL)
        captures[part] = try Self.capture(part, root)
      }
      try waitUntilAllReceive()
    }

    /// Waits until a picture that is drawn after this arrives by WHIP, and the others go on.
    func waitUntilAllReceive() throws {
      let now = Self.milliseconds
      let (byteCount, before) = (receivedBytes, playlist)
      try waitUntil("all receive\n\(uploader.transcript)\n\(server.program.transcript)") {
        guard let drawn = drawnByWHIP, Int32(bitPattern: drawn &- now) > 0 else { return false }
        let received = receivedBytes
        let grown = received < byteCount ? received : received - byteCount
        return grown > 32 << 10 && playlist != before
      }
    }

    func end() throws {
      let result = try uploader.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.output.components(separatedBy: "\"state\":\"ended\"").count == 4)
      for capture in captures.values { try capture.end(with: SIGTERM) }
      try receiver.end(with: SIGTERM)
    }

    // MARK: Figures

    func footprint() throws -> Footprint {
      let process = ProcessFacts(uploader.processID)
      let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path)
      var lags: [Double] = []
      for newest in [{ self.drawnByWHIP }, drawnBySRT, drawnByHLS] {
        var lag: Double?
        try waitUntil("a picture is decoded\n\(uploader.transcript)") {
          let now = Self.milliseconds
          lag = try newest().map { Double(max(0, Int32(bitPattern: now &- $0))) / 1000 }
          return lag != nil
        }
        lags += lag.map { [$0] } ?? []
      }
      let descriptors = try process.descriptors.values
      let socketCount = descriptors.count { $0.hasPrefix("socket:") }
      return try Footprint(
        residentBytes: process.residentBytes, descriptorCount: descriptors.count - socketCount,
        socketCount: socketCount, threadCount: process.threadCount,
        fileCount: paths.count { !$0.contains("/logs/") && !$0.contains("/log/") }, lags: lags)
    }

    /// As the test pattern draws the time.
    private static var milliseconds: UInt32 {
      UInt32(truncatingIfNeeded: monotonicNowNs() / 1_000_000)
    }

    private var drawnByWHIP: UInt32? {
      let seconds = server.lines("time ").last?.split(separator: " ").last.flatMap { Double($0) }
      return seconds.map { UInt32(truncatingIfNeeded: Int64(($0 * 1000).rounded())) }
    }

    private var playlist: String {
      (try? String(contentsOfFile: root.file("web/index.m3u8"), encoding: .utf8)) ?? ""
    }

    private var receivedBytes: Int {
      let attributes = try? FileManager.default.attributesOfItem(atPath: root.file("got.ts"))
      return attributes?[.size] as? Int ?? 0
    }

    /// Of the file's end, which begins in the middle of a picture.
    private func drawnBySRT() throws -> UInt32? {
      let file = try FileHandle(forReadingFrom: URL(filePath: root.file("got.ts")))
      try file.seek(toOffset: UInt64(max(0, receivedBytes - 256 << 10)))
      let end = root.file("end.ts")
      try (file.readToEnd() ?? Data()).write(to: URL(filePath: end))
      return try newestDrawn(in: end)
    }

    /// Of the playlist as it is now.
    private func drawnByHLS() throws -> UInt32? {
      let copy = root.file("web/copy.m3u8")
      try Data((playlist + "#EXT-X-ENDLIST\n").utf8).write(to: URL(filePath: copy))
      return try newestDrawn(in: copy)
    }

    private func newestDrawn(in path: String) throws -> UInt32? {
      try run(
        "/usr/bin/python3",
        [tool("frame_numbers.py"), path, "\(Self.size.width)", "\(Self.size.height)", "times"]
      ).output.split(separator: "\n").last { $0 != "none" }.flatMap { UInt32($0) }
    }
  }
#endif
