#!/usr/bin/python3
"""The screen saver of an X server (MIT-SCREEN-SAVER).

usage: screen_saver.py VERB [DISPLAY]
  activate   turns it on
  reset      turns it off
  state      prints whether it is "on" or "off"
  show       has the server show a magenta window as its saver, turns it on, prints "on", and stays
"""
import signal
import sys

from Xlib import X, display
from Xlib.ext import screensaver

verb = sys.argv[1]
screen = display.Display(sys.argv[2] if sys.argv[2:] else None)
root = screen.screen().root
if verb == "activate":
    screen.force_screen_saver(X.ScreenSaverActive)
    screen.sync()
elif verb == "reset":
    screen.force_screen_saver(X.ScreenSaverReset)
    screen.sync()
elif verb == "state":
    state = root.screensaver_query_info().state
    print("on" if state == screensaver.StateOn else "off", end="")
elif verb == "show":
    width, height = screen.screen().width_in_pixels, screen.screen().height_in_pixels
    root.screensaver_set_attributes(
        0, 0, width, height, 0, X.InputOutput, X.CopyFromParent, X.CopyFromParent,
        background_pixel=0xFF00FF)
    screen.force_screen_saver(X.ScreenSaverActive)
    screen.sync()
    print("on", flush=True)
    while True:
        signal.pause()
