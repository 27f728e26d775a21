#!/usr/bin/python3
"""Prints the numbers that the test pattern drew into the frames of a file, as ffmpeg decodes it.

usage: frame_numbers.py FILE WIDTH HEIGHT (one number a line; “none” for a frame without one)
"""
import subprocess
import sys

from test_pattern import mark_of

path, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
decoder = subprocess.Popen(
    ["ffmpeg", "-v", "fatal", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo",
     "-pix_fmt", "gray", "-"], stdout=subprocess.PIPE)
while len(picture := decoder.stdout.read(width * height)) == width * height:
    number = mark_of(picture, width, width, height)
    print("none" if number is None else number)
sys.exit(decoder.wait())
