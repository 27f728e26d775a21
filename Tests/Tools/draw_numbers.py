#!/usr/bin/python3
"""Draws increasing numbers on an X screen, as blocks that survive compression, and logs the times.

An independent witness for the tests: it shares no code with FrameBus. Each number fills a strip of
20 blocks at the top of the screen: a white one, 16 bits from the highest, their parity, a black and
a white one; below it a coloured box moves. It prints one line per number:
NUMBER MONOTONIC_NS, written after the X server has drawn it.

usage: draw_numbers.py INTERVAL_SECONDS COUNT (after COUNT numbers the picture stands still)
"""
import sys
import time

from Xlib import X, display

BLOCK = 32

interval, count = float(sys.argv[1]), int(sys.argv[2])
screen = display.Display()
root = screen.screen().root
window = root.create_window(
    0, 0, screen.screen().width_in_pixels, screen.screen().height_in_pixels, 0,
    screen.screen().root_depth, X.InputOutput, X.CopyFromParent,
    background_pixel=0x204060, override_redirect=True)
window.map()
pens = {color: window.create_gc(foreground=color) for color in (0xFFFFFF, 0x000000, 0xC03020)}
window.clear_area()
screen.sync()


def draw(number):
    bits = [number >> (15 - i) & 1 for i in range(16)]
    row = [1] + bits + [sum(bits) & 1, 0, 1]
    for index, bit in enumerate(row):
        pen = pens[0xFFFFFF if bit else 0x000000]
        window.fill_rectangle(pen, index * BLOCK, 0, BLOCK, BLOCK)
    left = number * 7 % 500
    window.clear_area(0, 64, 640, 80)
    window.fill_rectangle(pens[0xC03020], left, 64, 80, 80)
    screen.sync()


due = time.monotonic()
for number in range(1, count + 1):
    draw(number)
    print(number, time.monotonic_ns(), flush=True)
    due += interval
    time.sleep(max(0, due - time.monotonic()))
print("still", flush=True)
while True:
    screen.next_event()
