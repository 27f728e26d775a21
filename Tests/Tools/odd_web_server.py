"""A web server that gives a WHIP client wrong answers. The path selects the answer.

  odd_web_server.py [CERTIFICATE KEY]

It listens on a port of 127.0.0.1, which it writes to standard output, then one line per request:
`POST /status/403 bearer=yes`.
"""
import http.server
import ssl
import sys
import threading

SDP = b"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\n"
CREATED = {"Location": "/session/1", "Content-Type": "application/sdp"}
stopping = threading.Event()


class Odd(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        bearer = self.headers.get("Authorization", "")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = self.path.strip("/").split("/")
        print(self.command, self.path, "bearer=" + ("yes" if bearer else "no"), flush=True)
        kind = parts[0]
        if self.command == "DELETE":
            self.answer(200, {})
        elif self.command == "PATCH":
            self.answer(int(parts[1]) if kind == "patch" else 204, {})
        elif kind == "status":
            words = f"status {parts[1]}\x1b[31m said  the\nserver".encode()
            self.answer(int(parts[1]), {"Content-Type": "text/plain"}, words)
        elif kind == "empty":
            self.answer(201, CREATED)
        elif kind == "html":
            self.answer(
                201, {"Location": "/session/1", "Content-Type": "text/html"}, b"<html>hello</html>")
        elif kind == "untyped":
            self.answer(201, {"Location": "/session/1"}, b"<html>hello</html>")
        elif kind == "nowhere":
            self.answer(201, {"Content-Type": "application/sdp"}, SDP)
        elif kind == "elsewhere":
            self.answer(201, dict(CREATED, Location="ftp://example.com/1"), SDP)
        elif kind == "plain":
            self.answer(201, dict(CREATED, Location="http://192.0.2.1/1"), SDP)
        elif kind == "refusing":
            self.answer(201, CREATED, SDP.replace(b"m=video 9", b"m=video 0"))
        elif kind == "loop":
            self.answer(307, {"Location": self.path})
        elif kind == "moved":
            self.answer(302, {"Location": "/good"})
        elif kind == "redirect":
            self.answer(int(parts[1]), {"Location": "/" + "/".join(parts[2:])})
        elif kind == "away":
            self.answer(307, {"Location": f"http://127.0.0.1:{parts[1]}/good"})
        elif kind == "slow":
            stopping.wait()
        elif kind == "trickling":
            self.send_response(201)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            while not stopping.wait(0.05):
                self.wfile.write(b"x")
                self.wfile.flush()
        elif kind == "huge":
            self.answer(201, CREATED, SDP + b"a=x\r\n" * 200000)
        elif kind == "headers":
            self.send_response(201)
            for number in range(5000):
                self.send_header(f"X-{number}", "y" * 100)
            self.end_headers()
        elif kind == "longheader":
            self.send_response(201)
            self.send_header("X", "y" * 1000000)
            self.end_headers()
        elif kind == "short":
            self.answer(201, dict(CREATED, **{"Content-Length": "5000"}), SDP)
            self.close_connection = True
        elif kind == "malformed":
            self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
            self.close_connection = True
        elif kind == "echo":
            self.answer(403, {}, b"no: " + bearer.encode())
        elif kind == "echo-type":
            kind = "text/" + bearer.removeprefix("Bearer ")
            self.answer(201, CREATED | {"Content-Type": kind}, b"hello")
        elif kind == "echo-host":
            host = bearer.removeprefix("Bearer ") + ".invalid"
            self.answer(307, {"Location": f"https://{host}/"})
        else:
            tag = '"%d"' % len(body)
            self.answer(201, dict(CREATED, ETag=tag), SDP)

    do_POST = do_PATCH = do_DELETE = handle_any

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("listening", server.server_address[1], flush=True)
server.serve_forever()
