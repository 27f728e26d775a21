#!/usr/bin/python3
"""Fills a terminal with one colour after another, and logs the times, in a Wayland session.

An independent witness for the tests: it shares no code with FrameBus. Colour N is 0x1234_00 + N, so
that swapped channels show. It appends a line `COLOR MONOTONIC_NS` to a file, and then asks the
terminal for the colour (OSC 11 of xterm's control sequences, which foot knows).

usage: draw_colors.py LOG INTERVAL_SECONDS
"""
import sys
import time

FIRST = 0x123400
log = open(sys.argv[1], "a", buffering=1)
interval = float(sys.argv[2])
sys.stdout.write("\033[?25l")
due = time.monotonic()
for number in range(0x10000):
    color = FIRST + number
    log.write(f"{color} {time.monotonic_ns()}\n")
    sys.stdout.write(f"\033]11;#{color:06x}\033\\")
    sys.stdout.flush()
    due += interval
    time.sleep(max(0, due - time.monotonic()))
