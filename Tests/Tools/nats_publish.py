"""Publishes messages over a NATS server as any of its clients can.

usage: nats_publish.py PORT [SUBJECT BYTES]… FILE
The messages' bytes follow each other in FILE. Ends when the server has taken them all.
"""
import socket
import sys

arguments = sys.argv[2:-1]
data = open(sys.argv[-1], "rb").read()
server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
server.sendall(b'CONNECT {"verbose":false,"pedantic":false}\r\n')
for subject, size in zip(arguments[::2], arguments[1::2]):
    count = int(size)
    server.sendall(b"PUB %s %d\r\n%s\r\n" % (subject.encode(), count, data[:count]))
    data = data[count:]
server.sendall(b"PING\r\n")
answer = b""
while b"PONG" not in answer:
    some = server.recv(65536)
    if not some or b"-ERR" in answer:
        sys.exit(f"the server refused: {answer!r}")
    answer += some
