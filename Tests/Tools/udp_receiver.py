#!/usr/bin/python3
"""Receives datagrams, one after another, into a file, until SIGTERM.

usage: udp_receiver.py ADDRESS FILE (a multicast ADDRESS is joined)
It prints its port, and at the end a line: SIZES SECONDS TTL, the different sizes of the datagrams,
the time from the first to the last, and the last one's time to live (of IPv4; else 0).
"""
import ipaddress
import signal
import socket
import struct
import sys
import time

IP_RECVTTL = 12  # ip(7)

address = ipaddress.ip_address(sys.argv[1])
receiver = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET,
                         socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
receiver.bind((str(address), 0))
if address.version == 4:
    receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
if address.is_multicast:
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                        struct.pack("4sI", address.packed, socket.INADDR_ANY))
print(receiver.getsockname()[1], flush=True)


class Ended(Exception):
    pass


def end(*_):
    raise Ended


signal.signal(signal.SIGTERM, end)
sizes, times, ttl = set(), [], 0
with open(sys.argv[2], "wb", buffering=0) as file:
    try:
        while True:
            data, notes, _, _ = receiver.recvmsg(65536, 64)
            file.write(data)
            sizes.add(len(data))
            times = [times[0] if times else time.monotonic(), time.monotonic()]
            ttl = max([struct.unpack("i", note[2])[0] for note in notes], default=0)
    except Ended:
        pass
print(",".join(map(str, sorted(sizes))), times[1] - times[0] if times else 0, ttl, flush=True)
