#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Broadcasts by a confined extension to destinations of every kind, each with an independent
  /// receiver.
  @Suite struct ConfinedDestinationTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// Broadcasts flashes and beeps until the receiver has received enough.
    private func broadcast(
      to destination: String, secret: String? = nil,
      until hasEnough: (RunningProgram) throws -> Void
    ) throws {
      let host = try bench.broadcast(
        to: destination, ["--app-source", "beep:1000"],
        registering: secret.map { ["--credential", $0] } ?? [])
      try hasEnough(host)
      let status = try bench.framebus("broadcast", "status").output
      #expect(status.components(separatedBy: ", confined: on").count == 3, "\(status)")
      try bench.framebus("broadcast", "stop")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
    }

    @Test(arguments: ["mkv", "mp4"])
    func newFileIsWritten(container: String) throws {
      try withWatchdog {
        let name = "out.\(container)"
        try broadcast(to: "file:\(bench.file(name))") { _ in
          try bench.waitForBytes(100_000, in: name)
        }
        let heard = try Heard(bench.file(name))
        #expect(Set(heard.codecs) == ["h264", container == "mkv" ? "opus" : "aac"])
        #expect(abs(try #require(heard.skew)) < 0.04)
      }
    }

    @Test func playlistAndSegmentsAreWrittenIntoNewDirectory() throws {
      try withWatchdog {
        let playlist = bench.file("web/index.m3u8")
        try broadcast(to: "hls:\(bench.file("web"))") { host in
          try waitUntil("there are two segments: \(host.transcript)") {
            let text = try? String(contentsOfFile: playlist, encoding: .utf8)
            return text?.contains("segment00001.m4s") == true
          }
        }
        let text = try String(contentsOfFile: playlist, encoding: .utf8)
        #expect(text.contains("#EXT-X-ENDLIST"))
        try bench.expectSoundAndPictures(in: "web/index.m3u8")
      }
    }

    @Test func srtUsesHandedOverPassphrase() throws {
      try withWatchdog {
        try bench.root.seal("correct-horse", "srt", "cam")
        let port = try bench.freePort()
        let receiver = try bench.receiveSRT(port, "got.ts", passphrase: "correct-horse")
        try broadcast(to: "srt://127.0.0.1:\(port)", secret: "srt/cam") {
          try bench.waitForSound(150, in: bench.file("got.ts"), $0)
        }
        _ = try receiver.end(with: SIGTERM)
        try bench.expectSoundAndPictures(in: "got.ts")
      }
    }

    /// The confined extension resolves the server's name.
    @Test func rtmpUsesHostNameAndHandedOverKey() throws {
      try withWatchdog {
        try bench.root.seal("key-42", "rtmp", "cam")
        let port = try bench.freePort()
        let server = try bench.nginx(port)
        try broadcast(to: "rtmp://localhost:\(port)/live", secret: "rtmp/cam") {
          try bench.waitForSound(150, in: bench.file("key-42.flv"), $0)
        }
        _ = try server.end(with: SIGQUIT)
        try bench.expectSoundAndPictures(in: "key-42.flv")
      }
    }
  }
#endif
