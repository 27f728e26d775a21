#if Media
  import Capture
  import Foundation
  import FrameBus
  import Platform
  import Synchronization
  import TestSupport
  import Testing

  @testable import CaptureGStreamer

  /// `capture whep:` before an endpoint on aiortc, and `capture hls:` before playlists of ffmpeg.
  @Suite struct WebCaptureTests {
    private let bench: NetworkBench

    init() throws { bench = try NetworkBench() }

    // MARK: WHEP

    @Test(arguments: ["H264", "VP8"]) func whepStreamIsPublishedAndItsSessionRemoved(
      codec: String
    ) throws {
      try withWatchdog {
        let token = "token-4f1ac3d9"
        try bench.seal(token, "whep", "me")
        let port = try bench.port()
        let server = try bench.whepServer(port, "token=\(token)", "codec=\(codec)")
        let capture = try bench.capture(
          "whep:http://127.0.0.1:\(port)/whep", "--secret", "whep/me")
        try bench.expectPicturesAndSound(of: capture, size: "320x240")
        #expect(server.output.text.contains("PATCH 204"), "\(server.transcript)")
        try bench.expectAbsence(of: token, after: capture)
        try server.waitForOutput("DELETE 200")
        try server.waitForOutput("open 0")
        try server.end(with: Signal.kill)
      }
    }

    /// Without subscribers too, and again while the endpoint is busy.
    @Test func whepSessionIsRemovedWhenNobodyWatches() throws {
      try withWatchdog {
        let port = try bench.port()
        let server = try bench.whepServer(port, "busy=1")
        let capture = try bench.capture("whep:http://127.0.0.1:\(port)/whep", "--sound", "none")
        do {
          var pictures = try bench.subscriber()
          #expect(try pictures.takeSize() == "320x240")
        }
        try server.waitForOutput("DELETE 503")
        try server.waitForOutput("DELETE 200")
        try server.waitForOutput("open 0")
        var pictures = try bench.subscriber()
        #expect(try pictures.takeSize() == "320x240", "\(capture.transcript)")
        try capture.end(with: Signal.terminate)
        try server.end(with: Signal.kill)
      }
    }

    /// The endpoint names a relay, as its user cannot know it.
    @Test func whepUsesTheServersThatItsEndpointNames() throws {
      try withWatchdog {
        let port = try bench.port()
        let relay = try Relay()
        let server = try bench.whepServer(
          port,
          "link=<turn:127.0.0.1:\(relay.port)?transport=udp>; rel=\"ice-server\"; "
            + "username=\"\(Relay.user)\"; credential=\"\(Relay.password)\"")
        let capture = try bench.capture("whep:http://127.0.0.1:\(port)/whep", "--sound", "none")
        var pictures = try bench.subscriber()
        #expect(try pictures.takeSize() == "320x240", "\(capture.transcript)")
        try server.waitForOutput("candidate typ relay")
        try bench.expectAbsence(of: Relay.password, after: capture)
        try server.end(with: Signal.kill)
      }
    }

    @Test func whepReconnectsByANewSession() throws {
      try withWatchdog {
        let port = try bench.port()
        let first = try bench.whepServer(port)
        let capture = try bench.capture("whep:http://127.0.0.1:\(port)/whep")
        let events = Mutex<[StreamEvent]>([])
        var pictures = try bench.subscriber {
          $0.onEvent = { event in events.withLock { $0.append(event) } }
        }
        #expect(try pictures.takeSize() == "320x240")
        try first.end(with: Signal.kill)
        try capture.waitForErrors("the stream is paused")
        try bench.expectPause()
        let second = try bench.whepServer(port, "size=160x120")
        try waitUntil("pictures of another size come: \(capture.transcript)") {
          try pictures.takeSize() == "160x120"
        }
        #expect(events.withLock { $0.contains(.paused(.unavailable)) && $0.contains(.resumed) })
        try capture.end(with: Signal.terminate)
        try second.waitForOutput("DELETE 200")
        try second.end(with: Signal.kill)
      }
    }

    @Test func eachFailureOfWHEPHasItsOwnText() throws {
      try withWatchdog {
        try bench.seal("another-token", "whep", "wrong")
        let (port, odd) = (try bench.port(), try bench.port())
        let identity = try bench.certificate("localhost")
        let server = try bench.whepServer(
          port, "token=right", "tls=\(identity.certificate),\(identity.key)")
        let other = try bench.whepServer(odd, "answers=nothing")
        let address = "whep:https://localhost:\(port)/whep"
        let untrusted = try bench.failure(address)
        #expect(untrusted.contains("its certificate is not trusted"), "\(untrusted)")
        let missing = try bench.failure(address, "--ca", identity.certificate)
        #expect(missing.contains("a bearer token is required"), "\(missing)")
        #expect(missing.contains("--secret") && !missing.contains("--credential"), "\(missing)")
        let wrong = try bench.failure(
          address, "--ca", identity.certificate, "--secret", "whep/wrong")
        #expect(wrong.contains("the bearer token is not accepted"), "\(wrong)")
        let absent = try bench.failure(
          "whep:https://localhost:\(port)/nowhere", "--ca", identity.certificate)
        #expect(absent.contains("status 404"), "\(absent)")
        let refused = try bench.failure("whep:http://127.0.0.1:\(try bench.port())/whep")
        #expect(refused.contains("cannot connect"), "\(refused)")
        let nothing = try bench.failure("whep:http://127.0.0.1:\(odd)/whep")
        #expect(nothing.contains("cannot receive from whep:"), "\(nothing)")
        for program in [server, other] { try program.end(with: Signal.kill) }
      }
    }

    // MARK: HLS

    /// A web server of a folder, in which ffmpeg writes two renditions.
    private func playlists(
      _ port: Int, in folder: TemporaryRoot, seconds: Int, options: String
    ) throws -> (server: RunningProgram, encoder: RunningProgram) {
      let server = try RunningProgram(
        "/usr/bin/python3",
        ["-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", folder.path])
      try bench.waitForSocket(port, "tcp", server)
      let encoder = try RunningProgram(
        "sh",
        [
          "-c",
          "cd '\(folder.path)' && exec ffmpeg -v error -nostdin -re -f lavfi -i "
            + "testsrc2=size=320x240:rate=25 -f lavfi -i sine=frequency=1000 -t \(seconds) "
            + "-map 0:v -map 1:a -map 0:v -map 1:a -c:v libx264 -preset ultrafast -tune "
            + "zerolatency -pix_fmt yuv420p -g 25 -s:v:1 160x120 -b:v:0 800k -b:v:1 200k -c:a aac "
            + "-var_stream_map 'v:0,a:0 v:1,a:1' -f hls -hls_time 1 \(options) "
            + "-master_pl_name index.m3u8 'v%v.m3u8'",
        ])
      return (server, encoder)
    }

    @Test func renditionOfALivePlaylistIsChosen() throws {
      try withWatchdog {
        let (port, folder) = (try bench.port(), try TemporaryRoot())
        let (server, encoder) = try playlists(
          port, in: folder, seconds: 300, options: "-hls_list_size 8")
        try waitUntil("the playlist has segments: \(encoder.transcript)") {
          let text = try? String(contentsOfFile: folder.file("v1.m3u8"), encoding: .utf8)
          return text?.contains("v13.ts") == true
            && FileManager.default.fileExists(atPath: folder.file("index.m3u8"))
        }
        let address = "hls:http://127.0.0.1:\(port)/index.m3u8"
        let best = try bench.capture(address)
        try bench.expectPicturesAndSound(of: best, size: "320x240")
        try best.end(with: Signal.terminate)
        let small = try bench.capture(address, "--size", "200x200", "--stream", "small")
        var pictures = try bench.subscriber(to: "small")
        #expect(try pictures.takeSize() == "160x120", "\(small.transcript)")
        try small.end(with: Signal.terminate)
        for program in [server, encoder] { try program.end(with: Signal.kill) }
      }
    }

    @Test func endOfAPlaylistEndsTheStreamInItsOwnTime() throws {
      try withWatchdog {
        let (port, folder) = (try bench.port(), try TemporaryRoot())
        let (server, encoder) = try playlists(
          port, in: folder, seconds: 6, options: "-hls_playlist_type vod")
        #expect(try encoder.finish().status == .exited(0))
        let capture = try bench.capture("hls:http://127.0.0.1:\(port)/index.m3u8")
        var pictures = try bench.subscriber()
        var times: [(ptsNs: Int64, publishedAtNs: UInt64)] = []
        while case .frame(let lease) = try pictures.next(until: .after(.seconds(60))) {
          times.append((lease.metadata.ptsNs, lease.publishedAtNs))
        }
        #expect(try capture.finish().status == .exited(0), "\(capture.transcript)")
        let first = try #require(times.first)
        let last = try #require(times.last)
        #expect(last.ptsNs - first.ptsNs > 2_000_000_000)
        // It is not played faster than it was filmed, but for what was late at the start.
        #expect(last.publishedAtNs - first.publishedAtNs > 1_000_000_000)
        try server.end(with: Signal.kill)
      }
    }

    @Test func playlistCannotNameAFileOfThisMachine() throws {
      try withWatchdog {
        let (port, folder) = (try bench.port(), try TemporaryRoot())
        let (server, encoder) = try playlists(
          port, in: folder, seconds: 6, options: "-hls_playlist_type vod")
        #expect(try encoder.finish().status == .exited(0))
        let text = try String(contentsOfFile: folder.file("v1.m3u8"), encoding: .utf8)
        let local = text.replacing("v1", with: "file://\(folder.path)/v1")
        #expect(local.contains("file:///"))
        try local.write(toFile: folder.file("local.m3u8"), atomically: true, encoding: .utf8)
        let failure = try bench.failure("hls:http://127.0.0.1:\(port)/local.m3u8")
        #expect(failure.contains("the other side ended the stream"), "\(failure)")
        try server.end(with: Signal.kill)
      }
    }

    @Test func eachFailureOfHLSHasItsOwnText() throws {
      try withWatchdog {
        let folder = try TemporaryRoot()
        let (port, secure) = (try bench.port(), try bench.port())
        try "hello".write(toFile: folder.file("page"), atomically: true, encoding: .utf8)
        let server = try RunningProgram(
          "/usr/bin/python3",
          ["-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", folder.path])
        try bench.waitForSocket(port, "tcp", server)
        let identity = try bench.certificate("localhost")
        let front = try RunningProgram(
          "/usr/bin/python3",
          [
            tool("tls_front.py"), "\(secure)", "\(identity.certificate),\(identity.key)", "\(port)",
          ])
        try front.waitForOutput("listening")
        let absent = try bench.failure("hls:http://127.0.0.1:\(port)/index.m3u8")
        #expect(absent.contains("the server has no such stream"), "\(absent)")
        let page = try bench.failure("hls:http://127.0.0.1:\(port)/page")
        #expect(page.contains("is not a playlist"), "\(page)")
        let refused = try bench.failure("hls:http://127.0.0.1:\(try bench.port())/index.m3u8")
        #expect(refused.contains("cannot connect"), "\(refused)")
        let untrusted = try bench.failure("hls:https://localhost:\(secure)/page")
        #expect(untrusted.contains("its certificate is not trusted"), "\(untrusted)")
        let trusted = try bench.failure(
          "hls:https://localhost:\(secure)/page", "--ca", identity.certificate)
        #expect(trusted.contains("is not a playlist"), "\(trusted)")
        for program in [server, front] { try program.end(with: Signal.kill) }
      }
    }

    @Test func renditionsAreReadAndChosenBySize() {
      let text = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1,mp4a",RESOLUTION=1280x720
        a.m3u8
        #EXT-X-STREAM-INF:RESOLUTION=640x360,NAME="a,BANDWIDTH=1",BANDWIDTH=300000
        b.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=x
        #EXT-X-STREAM-INF:BANDWIDTH=64000
        """
      let all = HLSRendition.renditions(in: text)
      #expect(all.map(\.bitsPerSecond) == [800_000, 300_000, 64_000])
      #expect(all.map(\.width) == [1280, 640, nil])
      func chosen(_ width: Int, _ height: Int) -> Int? {
        let size = PixelRect(x: 0, y: 0, width: width, height: height)
        return HLSRendition.choose(among: all, fitting: size)?.bitsPerSecond
      }
      #expect(HLSRendition.choose(among: all, fitting: nil)?.bitsPerSecond == 800_000)
      #expect(chosen(1280, 720) == 800_000 && chosen(1279, 720) == 300_000)
      #expect(chosen(8, 8) == 64_000)
      #expect(HLSRendition.choose(among: [], fitting: nil) == nil)
    }
  }
#endif
