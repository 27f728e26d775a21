#if Media
  import Foundation
  import FrameBus
  import Platform
  import TestSupport
  import Testing

  /// `capture rtmp:` before nginx, and `capture rtsp:` before GStreamer's server.
  @Suite struct ServerCaptureTests {
    private let bench: NetworkBench

    init() throws { bench = try NetworkBench() }

    // MARK: RTMP

    @Test func rtmpStreamIsPublishedAndReconnects() throws {
      try withWatchdog {
        let key = "key-7d1f0042"
        try bench.seal(key, "rtmp", "cam")
        let port = try bench.port()
        let folder = try TemporaryRoot()
        let first = try bench.nginx(port, in: folder)
        let sender = try bench.rtmpSender("rtmp://127.0.0.1:\(port)/live/\(key)", "320x240")
        try first.waitForOutput("publish: name='\(key)'")
        let capture = try bench.capture("rtmp://127.0.0.1:\(port)/live", "--secret", "rtmp/cam")
        try bench.expectPicturesAndSound(of: capture, size: "320x240")
        // The stream stays through a restart of the server, and a sender of another size.
        var pictures = try bench.subscriber()
        try first.end(with: Signal.kill)
        try sender.end(with: Signal.kill)
        try capture.waitForErrors("the stream is paused")
        try bench.expectPause()
        let second = try bench.nginx(port, in: folder)
        let other = try bench.rtmpSender("rtmp://127.0.0.1:\(port)/live/\(key)", "160x120")
        try waitUntil("the other sender's pictures come: \(capture.transcript)") {
          try pictures.takeSize() == "160x120"
        }
        try other.end(with: Signal.kill)
        try bench.expectAbsence(of: key, after: capture)
        try second.end(with: Signal.terminate)
      }
    }

    @Test func eachFailureOfRTMPHasItsOwnText() throws {
      try withWatchdog {
        let port = try bench.port()
        let folder = try TemporaryRoot()
        let server = try bench.nginx(port, in: folder, rule: "deny play all;")
        let refused = try bench.failure("rtmp://127.0.0.1:\(try bench.port())/live/cam")
        #expect(refused.contains("connection refused"), "\(refused)")
        let unknown = try bench.failure("rtmp://host.invalid/live/cam")
        #expect(unknown.contains("no address has this name"), "\(unknown)")
        let denied = try bench.failure("rtmp://127.0.0.1:\(port)/live/cam")
        #expect(denied.contains("cannot receive from rtmp://127.0.0.1"), "\(denied)")
        #expect(!denied.contains("connection refused"), "\(denied)")
        try server.end(with: Signal.terminate)
      }
    }

    @Test func streamThatNobodyPublishesIsAnErrorAfterAWhile() throws {
      try withWatchdog {
        let port = try bench.port()
        let folder = try TemporaryRoot()
        let server = try bench.nginx(port, in: folder)
        let silent = try bench.failure("rtmp://127.0.0.1:\(port)/live/cam")
        #expect(silent.contains("nothing that can be shown arrives"), "\(silent)")
        try server.end(with: Signal.terminate)
      }
    }

    @Test func certificateOfRTMPSIsVerified() throws {
      try withWatchdog {
        let folder = try TemporaryRoot()
        let (plain, secure) = (try bench.port(), try bench.port())
        let server = try bench.nginx(plain, in: folder)
        let sender = try bench.rtmpSender("rtmp://127.0.0.1:\(plain)/live/cam", "320x240")
        try server.waitForOutput("publish: name='cam'")
        let identity = try bench.certificate("localhost")
        let front = try RunningProgram(
          "/usr/bin/python3",
          [
            tool("tls_front.py"), "\(secure)", "\(identity.certificate),\(identity.key)",
            "\(plain)",
          ])
        try front.waitForOutput("listening")
        let address = "rtmps://localhost:\(secure)/live/cam"
        let untrusted = try bench.failure(address)
        #expect(untrusted.contains("the server's certificate is not trusted"), "\(untrusted)")
        #expect(untrusted.contains("its signer is unknown"), "\(untrusted)")
        let other = try bench.failure(
          "rtmps://127.0.0.1:\(secure)/live/cam", "--ca", identity.certificate)
        #expect(other.contains("it is for another name"), "\(other)")
        let capture = try bench.capture(address, "--ca", identity.certificate)
        try bench.expectPicturesAndSound(of: capture, size: "320x240")
        try capture.end(with: Signal.terminate)
        for program in [sender, front] { try program.end(with: Signal.kill) }
        try server.end(with: Signal.terminate)
      }
    }

    // MARK: RTSP

    @Test func rtspStreamIsPublishedWithUserAndPassword() throws {
      try withWatchdog {
        let password = "pw-5c2e9911"
        try bench.seal(password, "rtsp", "ann")
        try bench.seal("pw-wrong-one", "wrong", "ann")
        let port = try bench.port()
        let server = try bench.rtspServer(port, "user=ann:\(password)")
        let address = "rtsp://127.0.0.1:\(port)/cam"
        let missing = try bench.failure(address)
        #expect(missing.contains("the server wants a secret"), "\(missing)")
        let wrong = try bench.failure(address, "--secret", "wrong/ann")
        #expect(wrong.contains("the server refuses the secret"), "\(wrong)")
        let capture = try bench.capture(address, "--secret", "rtsp/ann")
        try bench.expectPicturesAndSound(of: capture, size: "320x240")
        try bench.expectAbsence(of: password, after: capture)
        try server.end(with: Signal.kill)
      }
    }

    @Test func rtspReconnectsAndEachFailureHasItsOwnText() throws {
      try withWatchdog {
        let port = try bench.port()
        let first = try bench.rtspServer(port)
        let missing = try bench.failure("rtsp://127.0.0.1:\(port)/nowhere")
        #expect(missing.contains("the server has no such stream"), "\(missing)")
        let refused = try bench.failure("rtsp://127.0.0.1:\(try bench.port())/cam")
        #expect(refused.contains("connection refused"), "\(refused)")
        let capture = try bench.capture("rtsp://127.0.0.1:\(port)/cam")
        try bench.expectPicturesAndSound(of: capture, size: "320x240")
        var pictures = try bench.subscriber()
        try first.end(with: Signal.kill)
        try capture.waitForErrors("the stream is paused")
        try bench.expectPause()
        let second = try bench.rtspServer(port)
        try waitUntil("pictures come again: \(capture.transcript)") {
          try capture.errors.text.contains("is back") && pictures.takeSize() == "320x240"
        }
        try capture.end(with: Signal.terminate)
        try second.end(with: Signal.kill)
      }
    }

    @Test func certificateOfRTSPSIsVerified() throws {
      try withWatchdog {
        let port = try bench.port()
        let identity = try bench.certificate("localhost")
        let server = try bench.rtspServer(
          port, "tls=\(identity.certificate),\(identity.key)")
        let address = "rtsps://localhost:\(port)/cam"
        let untrusted = try bench.failure(address)
        #expect(untrusted.contains("its signer is unknown"), "\(untrusted)")
        let capture = try bench.capture(address, "--ca", identity.certificate)
        try bench.expectPicturesAndSound(of: capture, size: "320x240")
        try capture.end(with: Signal.terminate)
        try server.end(with: Signal.kill)
      }
    }
  }

  extension NetworkBench {
    /// nginx as an RTMP server, which logs to standard output.
    func nginx(
      _ port: Int, in folder: TemporaryRoot, rule: String = ""
    ) throws -> RunningProgram {
      let configuration = """
        load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
        user root; daemon off; master_process off; pid \(folder.file("nginx.pid"));
        error_log stderr info;
        events { worker_connections 64; }
        rtmp { access_log off; server { listen 127.0.0.1:\(port); application live {
          live on; \(rule) } } }
        """
      let path = folder.file("nginx.conf")
      try configuration.write(toFile: path, atomically: true, encoding: .utf8)
      let server = try RunningProgram(
        "sh", ["-c", "exec nginx -c '\(path)' -p '\(folder.path)' 2>&1"])
      try waitForSocket(port, "tcp", server)
      return server
    }

    func rtmpSender(_ address: String, _ size: String) throws -> RunningProgram {
      try RunningProgram(
        "sh", ["-c", "exec \(Self.encoder(size, format: "flv")) '\(address)'"])
    }

    func rtspServer(_ port: Int, _ settings: String...) throws -> RunningProgram {
      let server = try RunningProgram(
        "/usr/bin/python3", [tool("rtsp_server.py"), "\(port)"] + settings)
      try server.waitForOutput("ready")
      return server
    }

    /// A certificate for a name, signed by itself, and its key, as files.
    func certificate(_ name: String) throws -> (certificate: String, key: String) {
      let paths = (certificate: root.file("\(name).pem"), key: root.file("\(name).key"))
      try output(
        of: "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
          "-keyout", paths.key, "-out", paths.certificate, "-days", "2", "-subj", "/CN=\(name)",
          "-addext", "subjectAltName=DNS:\(name)",
        ])
      return paths
    }
  }
#endif
