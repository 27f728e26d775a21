#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  // Independent receivers, and checks of what they received.
  extension SoundBench {
    /// A port for UDP and TCP that is this bench's own.
    func freePort() throws -> Int {
      let port = try OwnPort()
      ports.withLock { $0.append(port) }
      return port.number
    }

    /// Records one sender's stream to a file in the group's directory.
    func receiveSRT(
      _ port: Int, _ name: String, passphrase: String? = nil, network: OwnNetwork? = nil
    ) throws -> RunningProgram {
      let secret = passphrase.map { "&pbkeylen=16&passphrase=\($0)" } ?? ""
      let receiver = try start(
        "sh",
        [
          "-c",
          "exec srt-live-transmit -q 'srt://127.0.0.1:\(port)?mode=listener\(secret)' file://con"
            + " > '\(file(name))'",
        ], in: network)
      try waitForSocket(port, "udp", of: network)
      return receiver
    }

    /// Records each stream as KEY.flv, in a directory of its own or the group's.
    func nginx(
      _ port: Int, records suffix: String = "", in folder: String? = nil, rule: String = "",
      network: OwnNetwork? = nil
    ) throws -> RunningProgram {
      let folder = folder ?? root.path
      let configuration = """
        load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
        user root; daemon off; master_process off; pid \(folder)/nginx-\(port).pid;
        error_log \(folder)/nginx.log info;
        events { worker_connections 64; }
        rtmp { access_log off; server { listen 127.0.0.1:\(port); application live {
          live on; \(rule) record all; record_path \(folder); record_suffix \(suffix).flv; } } }
        """
      let path = "\(folder)/nginx-\(port).conf"
      try configuration.write(toFile: path, atomically: true, encoding: .utf8)
      let server = try start("nginx", ["-c", path, "-p", folder], in: network)
      try waitForSocket(port, "tcp", of: network)
      return server
    }

    private func start(
      _ program: String, _ arguments: [String], in network: OwnNetwork?
    ) throws -> RunningProgram {
      try network?.start(program, arguments) ?? RunningProgram(program, arguments)
    }

    /// Waits until a socket is bound to the port (proc_net(5)).
    private func waitForSocket(_ port: Int, _ kind: String, of network: OwnNetwork?) throws {
      let address = "0100007F:" + String(format: "%04X", port)
      try waitUntil("a socket at \(kind) port \(port)") {
        let table =
          try network?.table(kind)
          ?? String(contentsOfFile: "/proc/self/net/\(kind)", encoding: .utf8)
        return table.split(separator: "\n").contains { line in
          line.split(separator: " ").dropFirst().first == address[...]
        }
      }
    }

    func waitForBytes(_ count: Int, in name: String) throws {
      try waitUntil("\(count) bytes in \(name)") {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file(name))
        return (attributes?[.size] as? Int ?? 0) >= count
      }
    }

    func expectSoundAndPictures(in name: String) throws {
      let heard = try Heard(file(name))
      #expect(Set(heard.codecs) == ["h264", "aac"])
      #expect(abs(try #require(heard.skew)) < 0.04)
    }
  }
#endif
