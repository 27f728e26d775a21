#!/usr/bin/python3
"""Prints the numbers that the test pattern drew into the frames of a file, as ffmpeg decodes it.

usage: frame_numbers.py FILE WIDTH HEIGHT [times]

One number a line, or with “times” the milliseconds of the capture's clock; “none” for a frame
without one.
"""
import subprocess
import sys

from test_pattern import value_of

path, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
decoder = subprocess.Popen(
    ["ffmpeg", "-v", "fatal", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo",
     "-pix_fmt", "gray", "-"], stdout=subprocess.PIPE)
while len(picture := decoder.stdout.read(width * height)) == width * height:
    value = value_of(picture, width, width, height)
    if value is None:
        print("none")
    else:
        print(value & 0xFFFF_FFFF if "times" in sys.argv[4:] else value >> 32)
sys.exit(decoder.wait())
