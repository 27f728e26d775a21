#!/usr/bin/python3
"""Shows a window of one colour and executes commands on it, one per line.

usage: show_window.py CLASS COLOUR WxH+X+Y, as in: show_window.py magenta ff00ff 60x40+20+30
commands: move X Y | resize W H | hide | show | mark | unmark | name CLASS | property NAME HEX | quit
A class may be bytes in hexadecimal digits, as in hex:c3bc00.
After each it prints a line, once the X server has done it. The first line is the window's ID.
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


def write_property(name, hexadecimal):
    window.change_property(
        screen.intern_atom(name), screen.intern_atom("UTF8_STRING"), 8, bytes.fromhex(hexadecimal))


def set_class(name):
    if name.startswith("hex:"):
        window.change_property(
            Xatom.WM_CLASS, Xatom.STRING, 8, bytes.fromhex(name.removeprefix("hex:")))
    else:
        window.set_wm_class(name, name)


def do(verb, *words):
    numbers = [int(word) for word in words if re.fullmatch(r"-?\d+", word)]
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
        set_class(words[0])
    elif verb == "property":
        write_property(words[0], words[1])
    screen.sync()


set_class(name)
do("show")
print(hex(window.id), flush=True)
for line in sys.stdin:
    if line.strip() == "quit":
        break
    do(*line.split())
    print("done", flush=True)
