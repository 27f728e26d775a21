#if Media
  import Capture
  import Foundation
  import FrameBus
  import Platform
  import TestSupport
  import Testing

  /// The time of RTCP's sender reports, from senders that draw the time into each picture, and
  /// whose wall clock is wrong. Sender and receiver share the monotonic clock.
  @Suite struct SenderTimeTests {
    private let bench: NetworkBench

    init() throws { bench = try NetworkBench() }

    /// How much later than it was drawn a picture was captured and published, in milliseconds.
    private struct Delays {
      let captured, published: Int64
    }

    private func sender(
      _ kind: String, shift: Int
    ) throws -> (address: String, program: RunningProgram) {
      let port = try bench.port()
      if kind == "whep" {
        let server = try bench.whepServer(port, "marks=yes", "shift=\(shift)")
        return ("whep:http://127.0.0.1:\(port)/whep", server)
      }
      let library = bench.root.file("shifted_clock.so")
      try output(
        of: "cc", ["-shared", "-fPIC", "-o", library, tool("shifted_clock.c"), "-ldl"])
      let server = try RunningProgram(
        "/usr/bin/python3", [tool("rtsp_server.py"), "\(port)", "marks=yes"],
        environment: ["LD_PRELOAD": library, "SHIFT_SECONDS": "\(shift)"])
      try server.waitForOutput("ready")
      return ("rtsp://127.0.0.1:\(port)/cam", server)
    }

    private func takeDelays(_ pictures: inout Subscriber) throws -> Delays? {
      guard case .frame(let lease) = try pictures.next(until: .after(.seconds(60))) else {
        throw HarnessError("no frame came")
      }
      guard let mark = TestPatternMark(format: lease.format, bytes: lease.bytes) else { return nil }
      func delay(_ ns: UInt64) -> Int64 {
        Int64(Int32(truncatingIfNeeded: ns / 1_000_000) &- Int32(bitPattern: mark.milliseconds))
      }
      return Delays(
        captured: delay(lease.metadata.capturedAtNs), published: delay(lease.publishedAtNs))
    }

    /// Medians of a second of pictures, which a busy machine delays.
    private func delays(_ pictures: inout Subscriber) throws -> Delays {
      var all: [Delays] = []
      while all.count < 25 { if let one = try takeDelays(&pictures) { all.append(one) } }
      return Delays(
        captured: all.map(\.captured).sorted()[12], published: all.map(\.published).sorted()[12])
    }

    /// A slow clock makes pictures older, by as much; without a report their age begins here.
    @Test(arguments: ["whep", "rtsp"], [-1, -3])
    func capturedAtFollowsTheSendersClock(kind: String, shift: Int) throws {
      try withWatchdog {
        let (address, server) = try sender(kind, shift: shift)
        let capture = try bench.capture(address, "--sound", "none")
        var pictures = try bench.subscriber()
        var found = Delays(captured: 0, published: 0)
        try waitUntil("reports count: \(found) \(capture.transcript)") {
          found = try delays(&pictures)
          return abs(found.captured - Int64(shift * 1000)) < 400
        }
        let upload = try run(
          "framebus",
          [
            "upload", "null:", "--stream", "screen", "--frames", "60", "--json", "--root",
            bench.root.path,
          ], environment: ["FRAMEBUS_GROUP": nil])
        let shown = try #require(
          upload.output.firstMatch(of: /"latency_p50_ns" ?: ?([0-9]+)/), "\(upload.output)")
        let latencyMs = (Int64(shown.1) ?? 0) / 1_000_000
        print("\(kind), clock \(shift) s: \(found), shown latency \(latencyMs) ms")
        #expect(latencyMs >= Int64(-shift * 1000) - 400, "\(upload.output)")
        try capture.end(with: Signal.terminate)
        try server.end(with: Signal.kill)
      }
    }

    /// A clock that is an hour off says nothing of a picture's age.
    @Test(arguments: ["whep", "rtsp"], [3600, -3600])
    func clockThatCannotBeRightIsIgnored(kind: String, shift: Int) throws {
      try withWatchdog {
        let (address, server) = try sender(kind, shift: shift)
        let capture = try bench.capture(address, "--sound", "none")
        var pictures = try bench.subscriber()
        // Longer than until the first reports.
        for _ in 0..<8 {
          let found = try delays(&pictures)
          // On a busy machine the sender itself draws its marks seconds late.
          #expect(found.captured > -60_000 && found.captured <= found.published, "\(found)")
        }
        try capture.end(with: Signal.terminate)
        try server.end(with: Signal.kill)
      }
    }
  }
#endif
