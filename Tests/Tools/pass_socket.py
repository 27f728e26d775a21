"""Becomes a program to which it passes a socket that listens, as systemd does (sd_listen_fds(3)).

    pass_socket.py KIND PROGRAM ARGUMENT…    tcp, or what is refused: closed, udp, unix, two, other
"""

import os
import socket
import sys

kind, command = sys.argv[1], sys.argv[2:]
families = {"udp": (socket.AF_INET, socket.SOCK_DGRAM), "unix": (socket.AF_UNIX, socket.SOCK_STREAM)}
passed = socket.socket(*families.get(kind, (socket.AF_INET, socket.SOCK_STREAM)))
if kind == "unix":
    passed.bind("")
else:
    passed.bind(("127.0.0.1", 0))
    print(passed.getsockname()[1], flush=True)
if kind != "udp":
    passed.listen()
if passed.fileno() != 3:
    os.dup2(passed.fileno(), 3)
os.set_inheritable(3, True)
if kind == "closed":
    os.close(3)
os.environ["LISTEN_FDS"] = "2" if kind == "two" else "1"
os.environ["LISTEN_PID"] = str(os.getppid() if kind == "other" else os.getpid())
os.execvp(command[0], command)
