"""NATS servers that do not keep to the protocol, for HostileServerTests.

usage: hostile_nats.py PORT faults|lies SEED COUNT
faults: each connection gets the next fault of the list below. lies: each connection is set up
properly, and its requests are answered by what the generator of SEED makes up. Says “served” after
COUNT connections and goes on until it is killed.
"""
import base64
import json
import random
import re
import socket
import struct
import sys
import threading
import time

PORT, MODE, SEED, COUNT = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
GROUP = "org_2eexample_2ebridge"
INFO = {"server_id": "N", "version": "2.9.10", "proto": 1, "host": "127.0.0.1", "port": PORT,
        "headers": True, "max_payload": 1048576, "jetstream": True, "client_id": 1}


def info(**more):
    return b"INFO " + json.dumps(INFO | more).encode() + b"\r\n"


class Client:
    def __init__(self, connection):
        self.connection = connection
        self.connection.settimeout(8)
        self.rest = b""

    def send(self, data):
        self.connection.sendall(data)

    def line(self):
        while b"\n" not in self.rest:
            some = self.connection.recv(65536)
            if not some:
                raise ConnectionError
            self.rest += some
        line, self.rest = self.rest.split(b"\n", 1)
        return line.rstrip(b"\r")

    def bytes(self, count):
        while len(self.rest) < count + 2:
            some = self.connection.recv(65536)
            if not some:
                raise ConnectionError
            self.rest += some
        data, self.rest = self.rest[:count], self.rest[count + 2:]
        return data

    def set_up(self):
        self.send(info())
        while self.line() != b"PING":
            pass
        self.send(b"PONG\r\n")

    def until_closed(self):
        while self.connection.recv(65536):
            pass


def before(data):
    """Instead of INFO."""
    def fault(client):
        client.send(data)
        client.until_closed()
    return fault


def after(data, times=1):
    """Once the connection is set up."""
    def fault(client):
        client.set_up()
        for _ in range(times):
            client.send(data() if callable(data) else data)
        client.until_closed()
    return fault


def closes(fault):
    def closing(client):
        client.set_up()
        client.send(fault)
        client.connection.close()
    return closing


def silent_after_info(client):
    client.send(info())
    client.until_closed()


def trickles(client):
    for byte in b"INFO {" + b" " * 1000:
        client.send(bytes([byte]))
        time.sleep(0.5)


def urls():
    return info(connect_urls=[f"10.0.0.{random.randrange(256)}:{random.randrange(65536)}"
                              for _ in range(100)])


FAULTS = {
    "silent": lambda client: client.until_closed(),
    "closes": lambda client: client.connection.close(),
    "closes in INFO": lambda client: (client.send(b"INFO {"), client.connection.close()),
    "HTTP": before(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "all bytes": before(bytes(range(256)) * 300),
    "endless INFO line": before(b"INFO {" + b"a" * (1 << 22)),
    "INFO of no JSON": before(b"INFO abc\r\n"),
    "deep INFO": before(b'INFO {"a":' + b"[" * 15000 + b"]" * 15000 + b"}\r\n"),
    "wrong types": before(b'INFO {"port":"x","max_payload":[],"connect_urls":{}}\r\n'),
    "odd addresses": before(info(connect_urls=["", ":", "127.0.0.1", "[::1", "a:b:c", "x" * 3000])),
    "more after INFO": before(info() + b"MSG a 1 100\r\n"),
    "silent after INFO": silent_after_info,
    "trickles": trickles,
    "endless answer": lambda client: (client.send(info()), client.line(),
                                      client.send(b"P" * (1 << 22)), client.until_closed()),
    "size beyond int": after(b"MSG a 1 2147483647\r\nabc"),
    "size beyond long": after(b"MSG a 1 99999999999999999999\r\nabc"),
    "negative size": after(b"MSG a 1 -5\r\nabc"),
    "size without digits": after(b"MSG a 1 x\r\nabc"),
    "no size": after(b"MSG a\r\n"),
    "many words": after(b"MSG " + b"a " * 2000 + b"\r\n"),
    "long subject": after(b"MSG " + b"a" * 100000 + b" 1 2\r\nab\r\n"),
    "headers beyond size": after(b"HMSG a 1 100 10\r\n" + b"a" * 10 + b"\r\n"),
    "negative headers": after(b"HMSG a 1 -1 10\r\n" + b"a" * 10 + b"\r\n"),
    "odd headers": after(b"HMSG _INBOX.a 1 10 10\r\nNATS/1.0 x\r\n"),
    "no end": after(b"MSG a 1 2\r\nabcdefgh"),
    "unknown": after(b"XYZ a 1 2\r\n"),
    "errors": after(b"-ERR 'Something new'\r\n"),
    "long error": after(b"-ERR '" + b"x" * 3000 + b"'\r\n"),
    "forbids": after(b"-ERR 'Permissions Violation for Publish to \"%n%s\"'\r\n", 1000),
    "endless INFO": after(urls, 3000),
    "closes in a message": closes(b"MSG a 1 100\r\nabc"),
    "closes in a line": closes(b"MSG a"),
    "floods": after(lambda: b"".join(b"MSG framebus.%s.note.two.a_2eb %d 524288\r\n" % (
        GROUP.encode(), number) + bytes(524288) + b"\r\n" for number in range(1, 5)), 300),
    "pings": after(b"PING\r\n", 20000),
    "answers": after(b"PONG\r\n+OK\r\n", 20000),
}


class Liar:
    def __init__(self, client, generator):
        self.client, self.random = client, generator
        self.subscriptions = {}
        client.set_up()

    def run(self):
        self.client.connection.settimeout(1.5)
        for _ in range(40):
            words = self.client.line().split(b" ")
            if words[0] == b"SUB":
                self.subscriptions[words[-1]] = words[1]
            elif words[0] in (b"PUB", b"HPUB"):
                body = self.client.bytes(int(words[-1]))
                has_reply = len(words) == (4 if words[0] == b"PUB" else 5)
                self.answer(words[1], words[2] if has_reply else None, body)
            elif words[0] == b"PING":
                self.client.send(b"PONG\r\n")

    def sid(self, subject):
        for sid, pattern in self.subscriptions.items():
            test = re.escape(pattern.decode()).replace(r"\*", "[^.]+").replace(">", ".+")
            if re.fullmatch(test, subject.decode()):
                return sid
        return None

    def message(self, subject, body, reply=None, sid=None, headers=b""):
        sid = sid or self.sid(subject)
        if sid is None:
            return
        words = [b"HMSG" if headers else b"MSG", subject, sid] + ([reply] if reply else [])
        words += [b"%d" % len(headers)] if headers else []
        words += [b"%d" % (len(headers) + len(body))]
        self.client.send(b" ".join(words) + b"\r\n" + headers + body + b"\r\n")

    def number(self):
        return self.random.choice([0, 1, -1, 2, 1 << 31, 1 << 62, (1 << 64) - 1, 1 << 70, 0.5, "x",
                                   None, [], {}, "2026-01-01T00:00:00Z", "", True])

    def text(self, count):
        return bytes(self.random.randrange(256) for _ in range(self.random.randrange(count)))

    def note(self, name=b"a.secret", machine=b"two"):
        body = b"FBN1" + struct.pack("<QQQQ", 9, self.random.getrandbits(60), 5, 66)
        body += bytes([len(machine)]) + machine + struct.pack("<H", len(name)) + name
        return body

    def any(self):
        """Some message: noise, a note of a name that may not cross, or what begins like another."""
        return self.random.choice([
            self.text(200), self.note(), self.note()[:-3],
            b"FBS1" + self.text(300), b"FBM1" + self.text(300), b"FBL1" + self.text(300)])

    def answer(self, subject, reply, body):
        kind = self.random.randrange(6)
        if subject.startswith(b"$JS.API.CONSUMER") and body:
            self.deliver(body)
        if reply is None or kind == 0:
            return
        if kind == 1:
            self.message(reply, self.text(400))
        elif kind == 2:
            self.message(reply, b"", headers=b"NATS/1.0 503\r\n\r\n")
        elif kind == 3:
            self.message(reply, self.any(), headers=b"NATS/1.0\r\nNats-Sequence: %s\r\n\r\n" %
                         str(self.number()).encode())
        else:
            config = {"name": self.number(), "subjects": self.number(), "max_msgs": self.number()}
            fields = ["type", "config", "created", "state", "seq", "stream", "name", "num_pending",
                      "delivered", "ack_floor", "error", "message", "duplicate", "domain", "cluster"]
            lie = {field: self.number() for field in fields if self.random.random() < 0.7}
            good = {"type": "io.nats.jetstream.api.v1.response", "config": config, "name": "c",
                    "created": "2026-01-01T00:00:00Z", "stream_name": "s", "stream": "s", "seq": 1,
                    "num_pending": self.random.choice([0, 3, 1 << 60]),
                    "cluster": {"name": "c", "leader": self.number(), "replicas": self.number()},
                    "delivered": {"consumer_seq": self.random.choice([0, 1 << 60]),
                                  "stream_seq": 0},
                    "message": {"subject": "a", "seq": 1, "time": "2026-01-01T00:00:00Z",
                                "data": base64.b64encode(self.any()).decode()}}
            for field in list(lie):
                if self.random.random() < 0.6:
                    del lie[field]
            if self.random.random() < 0.2:
                del good["config"]
            self.message(reply, json.dumps(good | lie).encode())
        for sid, pattern in list(self.subscriptions.items()):
            if self.random.random() < 0.3:
                self.message(pattern.replace(b"*", b"x").replace(b">", b"x"), self.any(), sid=sid)

    def deliver(self, body):
        try:
            subject = json.loads(body)["config"]["deliver_subject"].encode()
        except (ValueError, KeyError):
            return
        for _ in range(self.random.randrange(20)):
            place = [b"$JS", b"ACK", b"s", b"c"] + [
                str(self.number()).encode().replace(b" ", b"") or b"x" for _ in range(5)]
            reply = b".".join(place) if self.random.random() < 0.8 else None
            self.message(subject, self.any(), reply)
        if self.random.random() < 0.5:
            self.message(subject, b"", headers=b"NATS/1.0 100 Idle Heartbeat\r\n"
                         b"Nats-Last-Consumer: x\r\nNats-Last-Stream: -1\r\n\r\n")


served = 0
lock = threading.Lock()
names = list(FAULTS)


def serve(connection, number):
    global served
    try:
        client = Client(connection)
        if MODE == "faults":
            FAULTS[names[number % len(names)]](client)
        else:
            Liar(client, random.Random(SEED * 1000 + number)).run()
    except (OSError, ConnectionError):
        pass
    connection.close()
    with lock:
        served += 1
        what = names[number % len(names)] if MODE == "faults" else "lies"
        print(f"{number}: {what}", flush=True)
        if served == COUNT:
            print("served", flush=True)


random.seed(SEED)
listener = socket.create_server(("127.0.0.1", PORT))
print("ready", len(FAULTS), flush=True)
number = 0
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection, number), daemon=True).start()
    number += 1
