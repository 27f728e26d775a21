"""Receives what a service tells its manager (sd_notify(3)), and prints one line a message.

    service_manager.py PATH      the socket is there once the first line, "listening", is printed
"""

import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
    manager.bind(sys.argv[1])
    print("listening", flush=True)
    while True:
        print(manager.recv(4096).decode().replace("\n", " "), flush=True)
