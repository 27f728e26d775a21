#if Media
  import Foundation
  import Platform
  import TestSupport

  /// nginx in front of a live page, served by TLS at `https://127.0.0.1:PORT/live/`.
  final class ReverseProxy: Sendable {
    let program: RunningProgram
    let origin: String
    var url: String { origin + "/live/" }

    init(of page: String, in root: TemporaryRoot) throws {
      try output(
        of: "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
          "-keyout", root.file("key.pem"), "-out", root.file("cert.pem"), "-days", "2", "-subj",
          "/CN=live.example.com",
        ])
      let free =
        "import socket as s; p = s.socket(); p.bind(('127.0.0.1', 0)); "
        + "print(p.getsockname()[1], end='')"
      let port = try output(of: "/usr/bin/python3", ["-c", free])
      let configuration = """
        user root; daemon off; master_process off; pid nginx.pid; error_log nginx.log;
        events { worker_connections 64; }
        http { access_log off; client_body_temp_path body; proxy_temp_path proxy;
          fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
          server { listen 127.0.0.1:\(port) ssl;
            ssl_certificate cert.pem; ssl_certificate_key key.pem;
            location /live/ {
              proxy_pass \(page);
              proxy_set_header Host $proxy_host;
              proxy_set_header Origin http://$proxy_host; } } }
        """
      try configuration.write(toFile: root.file("nginx.conf"), atomically: true, encoding: .utf8)
      origin = "https://127.0.0.1:\(port)"
      program = try RunningProgram(
        "nginx", ["-c", root.file("nginx.conf"), "-p", root.path, "-e", "stderr"])
      try waitUntil("nginx listens") { [origin] in
        try run("curl", ["-sk", "-o", "/dev/null", origin]).status.isSuccess
      }
    }
  }
#endif
