#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Live destinations, each with a receiver that nobody here wrote.
  @Suite struct NetworkTests {
    private let bench: SoundBench

    init() throws { bench = try SoundBench() }

    /// A port that was free a moment ago, of datagrams and of connections.
    private func freePort() throws -> Int {
      let text = try output(
        of: "python3",
        [
          "-c",
          "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])",
        ])
      return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    private func expectSoundAndPictures(in path: String) throws {
      let heard = try Heard(path)
      #expect(Set(heard.codecs) == ["h264", "aac"])
      #expect(abs(try #require(heard.skew)) < 0.04)
    }

    @Test func hlsIsAPlaylistThatPlays() throws {
      let folder = bench.file("web")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false)
      try bench.sendFlashesAndBeeps(to: "hls:\(folder)", seconds: 5)
      let playlist = try String(contentsOfFile: folder + "/index.m3u8", encoding: .utf8)
      #expect(playlist.contains("#EXT-X-ENDLIST") && playlist.contains("segment00001.ts"))
      try expectSoundAndPictures(in: folder + "/index.m3u8")
    }

    @Test func hlsIntoADirectoryThatDoesNotExistIsAnError() throws {
      let result = try bench.upload("hls:\(bench.file("nowhere"))", seconds: 1)
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("cannot write"))
    }

    @Test func srtReachesAnotherProgramWithItsPassphrase() throws {
      try seal("srt", "cam", "correct-horse")
      let port = try freePort()
      let path = bench.file("got.ts")
      let receiver = try RunningProgram(
        "sh",
        [
          "-c",
          "exec srt-live-transmit -q 'srt://127.0.0.1:\(port)?mode=listener&pbkeylen=16"
            + "&passphrase=correct-horse' file://con > '\(path)'",
        ])
      try waitForSocket(port, "udp")
      try bench.sendFlashesAndBeeps(
        to: "srt://127.0.0.1:\(port)", seconds: 4, "--secret", "srt/cam")
      receiver.process.send(signal: 15)
      _ = try receiver.finish()
      try expectSoundAndPictures(in: path)
    }

    @Test func srtFindsAReceiverAgainThatWasKilled() throws {
      let port = try freePort()
      func receive(_ name: String) throws -> RunningProgram {
        let receiver = try RunningProgram(
          "sh",
          [
            "-c",
            "exec srt-live-transmit -q 'srt://127.0.0.1:\(port)?mode=listener' file://con > '"
              + bench.file(name) + "'",
          ])
        try waitForSocket(port, "udp")
        return receiver
      }
      let first = try receive("first.ts")
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus", ["upload", "srt://127.0.0.1:\(port)", "--root", bench.root.path])
      try waitForBytes(50_000, in: "first.ts")
      try first.end(with: SIGKILL)
      try upload.waitForErrors("is lost")
      try upload.waitForErrors("trying again")
      let second = try receive("second.ts")
      try waitForBytes(50_000, in: "second.ts")
      #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
      try second.end(with: SIGTERM)
      try pictures.end(with: SIGTERM)
      #expect(try decodedFrames(in: "second.ts") > 10)
    }

    @Test func rtmpFindsAServerAgainThatWasKilled() throws {
      let port = try freePort()
      let first = try nginx(port, records: "-first")
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let upload = try RunningProgram(
        "framebus", ["upload", "rtmp://127.0.0.1:\(port)/live/cam", "--root", bench.root.path])
      try waitForBytes(50_000, in: "cam-first.flv")
      try first.end(with: SIGKILL)
      try upload.waitForErrors("trying again")
      let second = try nginx(port, records: "-second")
      try waitForBytes(50_000, in: "cam-second.flv")
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

    private func waitForBytes(_ count: Int, in name: String) throws {
      try waitUntil("\(count) bytes in \(name)") {
        let attributes = try? FileManager.default.attributesOfItem(atPath: bench.file(name))
        return (attributes?[.size] as? Int ?? 0) >= count
      }
    }

    @Test func srtWithoutAPeerIsAnErrorAndASecretInTheAddressIsRefused() throws {
      let pictures = try bench.capture("test:bars", "--size", "320x240")
      let result = try bench.upload("srt://127.0.0.1:\(try freePort())", seconds: 60)
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("srtsink"))
      for address in ["srt://h:1?passphrase=x", "rtmp://user:secret@h/a/b"] {
        let refused = try bench.upload(address, seconds: 1)
        #expect(refused.status == .exited(2))
        #expect(refused.errors.contains("--secret"))
        #expect(!refused.errors.contains("user:secret"))
      }
      try pictures.end(with: 15)
    }

    @Test func rtmpReachesAServerUnderItsStreamKey() throws {
      try seal("rtmp", "cam", "key-42")
      let port = try freePort()
      let server = try nginx(port)
      try bench.sendFlashesAndBeeps(
        to: "rtmp://127.0.0.1:\(port)/live", seconds: 4, "--secret", "rtmp/cam")
      server.process.send(signal: 3)
      _ = try server.finish()
      try expectSoundAndPictures(in: bench.file("key-42.flv"))
    }

    /// Records each stream as KEY.flv, in the group's folder.
    private func nginx(_ port: Int, records suffix: String = "") throws -> RunningProgram {
      let folder = bench.root.path
      let configuration = """
        load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
        user root; daemon off; master_process off; pid \(folder)/nginx.pid;
        error_log \(folder)/nginx.log info;
        events { worker_connections 64; }
        rtmp { access_log off; server { listen 127.0.0.1:\(port); application live {
          live on; record all; record_path \(folder); record_suffix \(suffix).flv; } } }
        """
      let path = bench.file("nginx.conf")
      try configuration.write(toFile: path, atomically: true, encoding: .utf8)
      let server = try RunningProgram("nginx", ["-c", path, "-p", folder])
      try waitForSocket(port, "tcp")
      return server
    }

    private func seal(_ service: String, _ account: String, _ secret: String) throws {
      let path = bench.file("secret")
      try secret.write(toFile: path, atomically: true, encoding: .utf8)
      for arguments in [
        "group create --root '\(bench.root.path)'",
        "credential add --root '\(bench.root.path)' --recipient extension "
          + "\(service) \(account) < '\(path)'",
      ] {
        let framebus = try pathOfProgram("framebus")
        let result = try RunningProgram("sh", ["-c", "'\(framebus)' \(arguments)"]).finish()
        #expect(result.status == .exited(0), "\(result.errors)")
      }
    }

    /// Waits until somebody listens.
    private func waitForSocket(_ port: Int, _ kind: String) throws {
      let hex = String(format: ":%04X ", port)
      try waitUntil("a socket at \(kind) port \(port)") {
        let table = (try? String(contentsOfFile: "/proc/net/\(kind)", encoding: .utf8)) ?? ""
        return table.contains(hex)
      }
    }
  }
#endif
