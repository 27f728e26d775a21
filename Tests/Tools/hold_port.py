"""Holds a port of 127.0.0.1 that is free for UDP and TCP, until standard input ends.

Writes the port. The kernel gives it to no program that asks for any port, and a socket at 127.0.0.2
keeps it from other runs of this program.
"""
import random
import socket
import sys


def bound(kind, address, port):
    """A socket at a port, or nothing if the port is taken."""
    result = socket.socket(socket.AF_INET, kind)
    try:
        result.bind((address, port))
    except OSError:
        result.close()
        return None
    return result


def is_free(port):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        attempt = bound(kind, "127.0.0.1", port)
        if attempt is None:
            return False
        attempt.close()
    return True


with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
    first_of_any = int(file.read().split()[0])
while True:
    port = random.randrange(first_of_any // 2, first_of_any)
    holder = bound(socket.SOCK_STREAM, "127.0.0.2", port)
    if holder is not None and is_free(port):
        break
print(port, flush=True)
sys.stdin.read()
