#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// One broadcast for many viewers: the recipe of docs/guides/many-viewers.md, with Janus'
  /// streaming plugin.
  @Suite struct ManyViewersTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    private static let viewerCount = 20
    private static let mountpoint = """
      screen: {
        type = "rtp"
        id = 1
        audio = false
        video = true
        videoport = 5004
        videopt = 96
        videocodec = "h264"
        videofmtp = "profile-level-id=42e01f;packetization-mode=1"
      }
      """

    @Test func twentyViewersOfJanusWatchOneBroadcast() throws {
      try withWatchdog {
        let network = try NetworkNamespace()
        let janus = try network.startJanus(
          in: bench.root, ["janus.plugin.streaming": Self.mountpoint])
        let port = try bench.freePort()
        let relay = try RunningProgram(
          "gst-launch-1.0",
          [
            "-q", "udpsrc", "address=127.0.0.1", "port=\(port)", "!", "tsdemux", "!", "h264parse",
            "config-interval=-1", "!", "rtph264pay", "pt=96", "mtu=1200", "!", "udpsink",
            "host=\(network.address)", "port=5004", "sync=false",
          ])
        // Few packets: decoders in Python that are late on a busy machine lose none of them.
        let host = try bench.broadcast(
          to: "udp:127.0.0.1:\(port)", ["--fps", "10"],
          registering: ["--samples", "video", "--bitrate", "300k"])
        try host.waitForErrors("live")
        let before = (time: monotonicNowNs(), janus: try processorTimeNs(of: janus.processID))
        let viewers = try network.start(
          "/usr/bin/python3",
          [
            tool("janus_viewers.py"), "http://127.0.0.1:8088/janus", "1", "\(Self.viewerCount)",
            "50",
          ])
        let result = try viewers.finish(within: .seconds(300))
        #expect(result.status == .exited(0), "\(viewers.transcript) \(janus.transcript)")
        let busyNs = try processorTimeNs(of: janus.processID) - before.janus
        let share = Double(busyNs) / Double(monotonicNowNs() - before.time)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ") }
        let medians = lines.compactMap { $0.count == 10 ? Int($0[7]) : nil }.sorted()
        #expect(medians.count == Self.viewerCount, "\(result.output)")
        print(
          "\(medians.count) viewers: latency p50 \(medians.first ?? 0) to \(medians.last ?? 0) ms, "
            + "Janus \((share * 100).rounded()) % of a processor")
        print(result.output)
        _ = try host.end(with: Signal.interrupt)
        for program in [relay, janus] { try program.end(with: Signal.terminate) }
      }
    }
  }
#endif
