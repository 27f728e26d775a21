#!/usr/bin/python3
"""Shows a window of one colour and does to it what it is told, one command a line.

usage: show_window.py CLASS COLOUR WxH+X+Y, as in: show_window.py magenta ff00ff 60x40+20+30
commands: move X Y | resize W H | hide | show | mark | unmark | name CLASS | quit
After each it answers with a line, once the X server has done it. The first line is the window's id.
"""
import re
import sys

from Xlib import X, Xatom, display

name, colour, geometry = sys.argv[1:4]
width, height, x, y = map(int, re.fullmatch(r"(\d+)x(\d+)\+(\d+)\+(\d+)", geometry).groups())
screen = display.Display()
window = screen.screen().root.create_window(
    x, y, width, height, 0, screen.screen().root_depth, X.InputOutput, X.CopyFromParent,
    background_pixel=int(colour, 16))
MARK = screen.intern_atom("_FRAMEBUS_PROTECTED")


def do(verb, *words):
    numbers = [int(word) for word in words if word.isdigit()]
    if verb == "move":
        window.configure(x=numbers[0], y=numbers[1])
    elif verb == "resize":
        window.configure(width=numbers[0], height=numbers[1])
    elif verb == "hide":
        window.unmap()
    elif verb == "show":
        window.map()
    elif verb == "mark":
        window.change_property(MARK, Xatom.CARDINAL, 32, [1])
    elif verb == "unmark":
        window.delete_property(MARK)
    elif verb == "name":
        window.set_wm_class(words[0], words[0])
    screen.sync()


window.set_wm_class(name, name)
do("show")
print(hex(window.id), flush=True)
for line in sys.stdin:
    if line.strip() == "quit":
        break
    do(*line.split())
    print("done", flush=True)
