"""A STUN server that simulates a router: it answers every request with the same public address.
libnice uses the old protocol (RFC 3489), without a magic cookie.

  stun_server.py PORT ADDRESS

Writes `listening PORT`.
"""
import socket
import struct
import sys

public = socket.inet_aton(sys.argv[2])
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", int(sys.argv[1])))
print("listening", server.getsockname()[1], flush=True)
while True:
    request, sender = server.recvfrom(2048)
    # A binding request, whose transaction ID the answer repeats.
    if len(request) >= 20 and request[:2] == b"\x00\x01":
        mapped = struct.pack("!HHBBH", 0x0001, 8, 0, 1, sender[1]) + public
        server.sendto(struct.pack("!HH", 0x0101, len(mapped)) + request[4:20] + mapped, sender)
