#!/usr/bin/python3
"""Runs a program with a terminal as its standard output and error, and copies what it writes there
to standard output, byte for byte.

usage: on_terminal.py PROGRAM ARGUMENT…
"""
import os
import pty
import sys

pid, screen = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        piece = os.read(screen, 65536)
    except OSError:  # EIO: the program has ended
        break
    if not piece:
        break
    os.write(1, piece)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
