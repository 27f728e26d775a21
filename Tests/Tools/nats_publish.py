"""Publishes messages to a NATS server, without a library: lines of SUBJECT HEX in a file."""
import json
import socket
import sys

address = ("127.0.0.1", int(sys.argv[1]))
with socket.create_connection(address) as connection, open(sys.argv[2]) as lines:
    stream = connection.makefile("rwb")
    stream.readline()
    stream.write(b"CONNECT " + json.dumps({"verbose": False, "pedantic": False}).encode() + b"\r\n")
    for line in lines:
        subject, _, digits = line.strip().partition(" ")
        data = bytes.fromhex(digits)
        stream.write(b"PUB %s %d\r\n%s\r\n" % (subject.encode(), len(data), data))
    stream.write(b"PING\r\n")
    stream.flush()
    while (answer := stream.readline()) and not answer.startswith(b"PONG"):
        pass
