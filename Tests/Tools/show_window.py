#!/usr/bin/python3
"""Shows a window of one colour and executes commands on it, one per line.

usage: show_window.py CLASS COLOUR WxH+X+Y [marked]
as in: show_window.py magenta ff00ff 60x40+20+30
commands: move X Y | resize W H | redraw W H | hide | show | iconify | mark | unmark | name CLASS
          | process 0 | machine HEX | property NAME HEX | owner ID | leader ID
          | extents LEFT RIGHT TOP BOTTOM | adopt ID X Y | menu COLOUR X Y
          | dialog COLOUR X Y | tool COLOUR X Y | close | late MS show | late MS resize W H | quit
A menu is a window that no window manager touches, without a word about whose it is. A dialog is
transient for the window, a tool window for all windows of its group. All three are closed by close.
A class may be bytes in hexadecimal digits, as in hex:c3bc00.
Late shows or resizes the window, which the server makes white, draws its upper half MS milliseconds
later and the rest half a second after that. Its line has two times of the monotonic clock in
nanoseconds: before the change, and before the drawing.
After each it prints a line, once the X server has done it. The first line is the window's ID.
"""
import os
import re
import sys
import time

from Xlib import X, Xatom, Xutil, display
from Xlib.protocol import event

name, colour, geometry = sys.argv[1:4]
width, height, x, y = map(int, re.fullmatch(r"(\d+)x(\d+)\+(\d+)\+(\d+)", geometry).groups())
screen = display.Display()
window = screen.screen().root.create_window(
    x, y, width, height, 0, screen.screen().root_depth, X.InputOutput, X.CopyFromParent,
    background_pixel=int(colour, 16))
MARK = screen.intern_atom("_FRAMEBUS_PROTECTED")
LEADER = screen.intern_atom("WM_CLIENT_LEADER")
more = []


def write_property(name, hexadecimal):
    window.change_property(
        screen.intern_atom(name), screen.intern_atom("UTF8_STRING"), 8, bytes.fromhex(hexadecimal))


def set_class(name):
    if name.startswith("hex:"):
        window.change_property(
            Xatom.WM_CLASS, Xatom.STRING, 8, bytes.fromhex(name.removeprefix("hex:")))
    else:
        window.set_wm_class(name, name)


def open_window(kind, colour, x, y):
    one = screen.screen().root.create_window(
        x, y, 50, 40, 0, screen.screen().root_depth, X.InputOutput, X.CopyFromParent,
        background_pixel=int(colour, 16), override_redirect=kind == "menu")
    if kind == "dialog":
        one.set_wm_transient_for(window)
    elif kind == "tool":
        one.set_wm_transient_for(screen.screen().root)
        one.change_property(LEADER, Xatom.WINDOW, 32, [window.id])
    one.set_wm_normal_hints(flags=Xutil.USPosition, x=x, y=y)
    one.map()
    more.append(one)


def redraw(width, height):
    """Resizes the window, which the server makes white, and draws it in pieces."""
    window.change_attributes(background_pixel=0xFFFFFF)
    window.configure(width=width, height=height)
    ink = window.create_gc(foreground=int(colour, 16))
    for row in range(height):
        window.fill_rectangle(ink, 0, row, width, 1)
        screen.sync()
    ink.free()


def draw_late(milliseconds, *change):
    """Shows or resizes the window, and draws it in two parts."""
    window.change_attributes(background_pixel=0xFFFFFF)
    ink = window.create_gc(foreground=int(colour, 16))
    changed = time.monotonic_ns()
    do(*change)
    time.sleep(milliseconds / 1000)
    size = window.get_geometry()
    half = size.height // 2
    drawn = time.monotonic_ns()
    window.fill_rectangle(ink, 0, 0, size.width, half)
    screen.sync()
    time.sleep(0.5)
    window.fill_rectangle(ink, 0, half, size.width, size.height - half)
    ink.free()
    screen.sync()
    return f"{changed} {drawn}"


def iconify():
    message = event.ClientMessage(
        window=window, client_type=screen.intern_atom("WM_CHANGE_STATE"),
        data=(32, [Xutil.IconicState, 0, 0, 0, 0]))
    screen.screen().root.send_event(
        message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)


def do(verb, *words):
    numbers = [int(word) for word in words if re.fullmatch(r"-?\d+", word)]
    if verb == "move":
        window.configure(x=numbers[0], y=numbers[1])
    elif verb == "resize":
        window.configure(width=numbers[0], height=numbers[1])
    elif verb == "redraw":
        redraw(numbers[0], numbers[1])
    elif verb == "hide":
        window.unmap()
    elif verb == "show":
        window.map()
    elif verb == "iconify":
        iconify()
    elif verb in ("menu", "dialog", "tool"):
        open_window(verb, words[0], int(words[1]), int(words[2]))
    elif verb == "owner":
        window.set_wm_transient_for(screen.create_resource_object("window", int(words[0], 16)))
    elif verb == "leader":
        window.change_property(LEADER, Xatom.WINDOW, 32, [int(words[0], 16)])
    elif verb == "extents":
        window.change_property(
            screen.intern_atom("_NET_FRAME_EXTENTS"), Xatom.CARDINAL, 32, numbers)
    elif verb == "adopt":
        screen.create_resource_object("window", int(words[0], 16)).reparent(
            window, int(words[1]), int(words[2]))
    elif verb == "close":
        while more:
            more.pop().destroy()
    elif verb == "process":
        window.change_property(
            screen.intern_atom("_NET_WM_PID"), Xatom.CARDINAL, 32, [os.getpid()])
    elif verb == "machine":
        window.change_property(
            Xatom.WM_CLIENT_MACHINE, Xatom.STRING, 8, bytes.fromhex(words[0]))
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
if sys.argv[4:] == ["marked"]:
    do("mark")
do("show")
print(hex(window.id), flush=True)
for line in sys.stdin:
    if line.strip() == "quit":
        break
    words = line.split()
    if words[0] == "late":
        print(draw_late(int(words[1]), *words[2:]), flush=True)
        continue
    do(*words)
    print("done", flush=True)
