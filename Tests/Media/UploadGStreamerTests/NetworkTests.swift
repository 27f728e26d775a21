#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Live destinations, each with an independent receiver.
  @Suite struct NetworkTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    @Test func hlsPlaylistPlays() throws {
      let folder = bench.file("web")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false)
      try bench.sendFlashesAndBeeps(to: "hls:\(folder)", seconds: 5)
      let playlist = try String(contentsOfFile: folder + "/index.m3u8", encoding: .utf8)
      #expect(playlist.contains("#EXT-X-ENDLIST") && playlist.contains("segment00001.m4s"))
      try bench.expectSoundAndPictures(in: "web/index.m3u8")
    }

    @Test func hlsIntoMissingDirectoryIsAnError() throws {
      let result = try bench.upload("hls:\(bench.file("nowhere"))", seconds: 1)
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("cannot write"))
    }

    @Test func secondUploadIntoSameDirectoryIsRefused() throws {
      let folder = bench.file("web")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false)
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      func upload(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(
          "framebus", ["upload", "hls:\(folder)", "--root", bench.root.path] + arguments)
      }
      let first = try upload()
      try waitUntil("the playlist is written again: \(first.transcript)") {
        let text = try? String(contentsOfFile: folder + "/index.m3u8", encoding: .utf8)
        return text?.contains("segment00001.m4s") == true
      }
      let second = try upload().finish()
      #expect(second.status == .exited(1))
      #expect(
        second.errors.contains("\(folder)/index.m3u8: another program writes it"),
        "\(second.errors)")
      #expect(try first.end(with: SIGTERM).status == .exited(0), "\(first.transcript)")
      let next = try upload("--frames", "10").finish()
      #expect(next.status == .exited(0), "\(next.errors)")
      try pictures.end(with: SIGTERM)
    }

    /// With sound, the pipeline queues up to three seconds of pictures.
    @Test func framesFromBeforeSRTIsConnectedAreDropped() throws {
      let port = try bench.freePort()
      let publisher = try RunningProgram(
        "UploadTestPublisher", [bench.root.path, "screen", "live", "XR24:320x240:3000:20000"])
      // libsrt's default timeout is 3 s.
      let upload = try RunningProgram(
        "framebus",
        [
          "upload", "srt://127.0.0.1:\(port)?conntimeo=100000", "--root", bench.root.path, "--json",
          "--stream", "screen", "--stream", "audio.app",
        ])
      try upload.waitForErrors("connecting to")
      let before = publisher.output.text.split(separator: "\n").count
      let hasPublished = publisher.output.wait(until: .after(.seconds(60))) {
        $0.split(separator: "\n").count >= before + 200
      }
      #expect(hasPublished, "\(publisher.transcript)")
      let receiver = try bench.receiveSRT(port, "late.ts")
      try bench.waitForBytes(20_000, in: "late.ts")
      // Drops are counted with the next frame that is read.
      try waitUntil("the drops are counted: \(upload.transcript)") {
        upload.errors.text.contains(/[1-9]\d\d drops/)
      }
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(try Summary(result.output).drops >= 100, "\(result.output)")
      try receiver.end(with: SIGTERM)
      try publisher.end(with: SIGTERM)
    }

    @Test func srtStreamIDAppearsOnlyOnTheNetwork() throws {
      let key = "sk-51f00d77"
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      func upload(to port: Int) throws -> RunningProgram {
        try RunningProgram(
          "framebus",
          [
            "upload", "srt://127.0.0.1:\(port)?streamid=%23!::r=live%2Fcam,s=\(key)", "--root",
            bench.root.path,
          ],
          environment: ["FRAMEBUS_LOG_LEVEL": "trace"])
      }
      let takes = try bench.freePort()
      let receiver = try bench.receiveSRT(takes, "got.ts")
      let taken = try upload(to: takes)
      try bench.waitForBytes(20_000, in: "got.ts")
      let results = [
        try taken.end(with: SIGTERM), try upload(to: try bench.freePort()).finish(),
      ]
      #expect(results.map(\.status) == [.exited(0), .exited(1)])
      #expect(results[1].errors.contains("no peer accepts data for srt://127.0.0.1:"))
      for result in results { #expect(!(result.errors + result.output).contains(key)) }
      let log = try run("framebus", ["log", "--level", "trace", "--root", bench.root.path]).output
      #expect(log.contains("creating element \"srtsink\""), "the log has no lines of GStreamer")
      #expect(!log.contains(key))
      #expect(try run("grep", ["-rqF", key, bench.root.path]).status == .exited(1))
      try receiver.end(with: SIGTERM)
      try pictures.end(with: SIGTERM)
    }

    @Test func srtReachesReceiverWithPassphrase() throws {
      try bench.root.seal("correct-horse", "srt", "cam")
      let port = try bench.freePort()
      let receiver = try bench.receiveSRT(port, "got.ts", passphrase: "correct-horse")
      try bench.sendFlashesAndBeeps(
        to: "srt://127.0.0.1:\(port)", seconds: 4, "--secret", "srt/cam")
      receiver.process.send(signal: 15)
      _ = try receiver.finish()
      try bench.expectSoundAndPictures(in: "got.ts")
    }

    @Test func srtReconnectsToRestartedReceiver() throws {
      let port = try bench.freePort()
      let first = try bench.receiveSRT(port, "first.ts")
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus", ["upload", "srt://127.0.0.1:\(port)", "--root", bench.root.path])
      try bench.waitForBytes(50_000, in: "first.ts")
      try first.end(with: SIGKILL)
      try upload.waitForErrors("is lost")
      try upload.waitForErrors("trying again")
      let second = try bench.receiveSRT(port, "second.ts")
      try bench.waitForBytes(50_000, in: "second.ts")
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try second.end(with: SIGTERM)
      try pictures.end(with: SIGTERM)
      #expect(try decodedFrames(in: "second.ts") > 10)
    }

    @Test func rtmpReconnectsToRestartedServer() throws {
      let port = try bench.freePort()
      let first = try bench.nginx(port, records: "-first")
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus", ["upload", "rtmp://127.0.0.1:\(port)/live/cam", "--root", bench.root.path])
      try bench.waitForBytes(50_000, in: "cam-first.flv")
      try first.end(with: SIGKILL)
      try upload.waitForErrors("trying again")
      let second = try bench.nginx(port, records: "-second")
      try bench.waitForBytes(50_000, in: "cam-second.flv")
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try second.end(with: SIGQUIT)
      try pictures.end(with: SIGTERM)
      #expect(try decodedFrames(in: "cam-second.flv") > 10)
    }

    private func decodedFrames(in name: String) throws -> Int {
      let text = try output(
        of: "ffprobe",
        [
          "-v", "fatal", "-count_frames", "-select_streams", "v", "-show_entries",
          "stream=nb_read_frames", "-of", "csv=p=0", bench.file(name),
        ])
      return Int(text.prefix { $0.isNumber }) ?? 0
    }

    @Test func srtWithoutPeerOrWithSecretInAddressIsAnError() throws {
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let result = try bench.upload("srt://127.0.0.1:\(try bench.freePort())", seconds: 60)
      #expect(result.status == .exited(1))
      // What was never there is not lost.
      #expect(!result.errors.contains("is lost"), "\(result.errors)")
      #expect(result.errors.contains("no peer accepts data for srt://127.0.0.1:"))
      #expect(!result.errors.contains("GST_DEBUG"))
      let addresses = [
        "srt://h:1?passphrase=x", "srt://h:1?pass%70hrase=x", "rtmp://user:secret@h/a/b",
      ]
      for address in addresses {
        let refused = try bench.upload(address, seconds: 1)
        #expect(refused.status == .exited(2))
        #expect(refused.errors.contains("--secret"))
        #expect(!refused.errors.contains("user:secret"))
      }
      try pictures.end(with: 15)
    }

    /// GLib writes its warnings, and those of GStreamer, to standard error by default.
    @Test func warningsOfGLibAreLogged() throws {
      let library = bench.file("glib_warning.so")
      try output(
        of: "cc", ["-shared", "-fPIC", "-o", library, tool("glib_warning.c"), "-ldl"])
      let pictures = try bench.capture("test:", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus",
        ["upload", "file:\(bench.file("out.mkv"))", "--root", bench.root.path, "--frames", "5"],
        environment: ["LD_PRELOAD": library])
      let result = try upload.finish()
      #expect(result.status == .exited(0))
      #expect(!result.errors.contains("assertion"), "\(result.errors)")
      let log = try run("framebus", ["log", "--root", bench.root.path]).output
      #expect(log.contains("Preloaded: an assertion failed"), "\(log)")
      try pictures.end(with: SIGTERM)
    }

    /// With words instead of numbers and libsrt's "Connection does not exist".
    @Test func refusalsAreInWords() throws {
      try bench.root.seal("wrong-passphrase", "srt", "cam")
      let (srt, rtmp) = (try bench.freePort(), try bench.freePort())
      let listener = try bench.receiveSRT(srt, "none.ts", passphrase: "correct-horse")
      let server = try bench.nginx(rtmp, rule: "deny publish all;")
      let pictures = try bench.capture("test:", "--size", "320x240")
      let first = try bench.upload(
        "srt://127.0.0.1:\(srt)", seconds: 60,
        ["--secret", "srt/cam", "--retry-for", "0"])
      #expect(first.errors.contains("refuses the passphrase (--secret)"), "\(first.errors)")
      let second = try bench.upload("rtmp://127.0.0.1:\(rtmp)/live/cam", seconds: 60)
      // The server ends the connection after its refusal, which the client may see first.
      #expect(second.errors.contains(/denied|closed|reset by peer/), "\(second.errors)")
      #expect(!second.errors.contains("g-io-error-quark"), "\(second.errors)")
      #expect([first, second].allSatisfy { $0.status == .exited(1) })
      try listener.end(with: SIGTERM)
      try server.end(with: SIGQUIT)
      try pictures.end(with: SIGTERM)
    }

    /// A listener that starts late is one whose handshake was lost.
    @Test func firstSRTConnectionIsRetried() throws {
      let port = try bench.freePort()
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus",
        ["upload", "srt://127.0.0.1:\(port)?conntimeo=300", "--root", bench.root.path])
      try upload.waitForErrors("trying again")
      let receiver = try bench.receiveSRT(port, "late.ts")
      try bench.waitForBytes(20_000, in: "late.ts")
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try receiver.end(with: SIGTERM)
      try pictures.end(with: SIGTERM)
    }

    @Test func rtmpReachesServerWithStreamKey() throws {
      try bench.root.seal("key-42", "rtmp", "cam")
      let port = try bench.freePort()
      let server = try bench.nginx(port)
      try bench.sendFlashesAndBeeps(
        to: "rtmp://127.0.0.1:\(port)/live", seconds: 4, "--secret", "rtmp/cam")
      server.process.send(signal: 3)
      _ = try server.finish()
      try bench.expectSoundAndPictures(in: "key-42.flv")
    }

    /// Servers name the stream in errors, and GStreamer logs the whole address.
    @Test(arguments: [true, false])
    func streamKeyAppearsOnlyOnTheNetwork(isInAddress: Bool) throws {
      let key = isInAddress ? "sk-51f00d77" : "sk:51f0=77"
      try bench.root.seal(key, "rtmp", "cam")
      let server = try TemporaryRoot()
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      func upload(to port: Int, _ application: String) throws -> RunningProgram {
        let address = "rtmp://127.0.0.1:\(port)/\(application)"
        return try RunningProgram(
          "framebus",
          ["upload", isInAddress ? "\(address)/\(key)" : address, "--root", bench.root.path]
            + (isInAddress ? [] : ["--secret", "rtmp/cam"]),
          environment: ["FRAMEBUS_LOG_LEVEL": "trace"])
      }
      let takes = try bench.freePort()
      let nginx = try bench.nginx(takes, in: server.path)
      let taken = try upload(to: takes, "live")
      try waitUntil("pictures arrive") {
        try FileManager.default.contentsOfDirectory(atPath: server.path).contains {
          $0.hasSuffix(".flv")
        }
      }
      if !isInAddress {
        for name in ["cmdline", "environ"] {
          let bytes = try Data(contentsOf: URL(filePath: "/proc/\(taken.processID)/\(name)"))
          #expect(bytes.range(of: Data(key.utf8)) == nil)
        }
      }
      var ended = [try taken.end(with: SIGTERM)]
      #expect(ended[0].status == .exited(0), "\(ended[0].errors)")
      // One server refuses the application, one the stream, and one is missing.
      let refuses = try bench.freePort()
      let refusing = try bench.nginx(refuses, in: server.path, rule: "deny publish all;")
      for (port, application) in [(takes, "no"), (refuses, "live"), (try bench.freePort(), "live")]
      {
        ended.append(try upload(to: port, application).finish())
      }
      #expect(ended.dropFirst().allSatisfy { $0.status == .exited(1) })
      for result in ended { #expect(!(result.errors + result.output).contains(key)) }
      let log = try run("framebus", ["log", "--level", "trace", "--root", bench.root.path]).output
      #expect(log.contains("rtmp"), "the log has no lines of GStreamer")
      for written in [key, "sk%3A51f0%3D77", "sk:51f0\\=77"] {
        #expect(!log.contains(written))
        #expect(try run("grep", ["-rqF", written, bench.root.path]).status == .exited(1))
      }
      for server in [nginx, refusing] { try server.end(with: SIGQUIT) }
      try pictures.end(with: SIGTERM)
    }
  }
#endif
