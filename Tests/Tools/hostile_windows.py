#!/usr/bin/python3
"""Windows that are hard to track, for HostileClientTests.

usage: hostile_windows.py ROLE [ARGUMENT…]; the display is $DISPLAY
Magenta windows may be seen until they are marked; cyan ones never: they are marked before they are
shown.
  race SECONDS   shows windows, marks them, and changes them in every possible way.
                 Prints for each two moments of the monotonic clock in nanoseconds, between which
                 no picture may show it.
  many COUNT     makes COUNT windows, prints "ready", and continues after a line of input
  deep LEVELS    nests LEVELS windows, the innermost cyan, prints "ready", and waits for a line
  unrest [marked|WINDOW]  moves a window continuously, and prints "ready" when it has begun: its own
                 window, a marked cyan one, or that of another client
  resize WINDOW SECONDS   resizes a window continuously, and to 90x70 at the end
  screen SECONDS          resizes the screen continuously, and to 90x70 at the end
  saver SECONDS           turns the screen saver on and off
  cursor SIDE SECONDS     sets cursors of SIDE x SIDE pixels, one after another
  hints          writes properties of all windows that say that they belong to its own window, and
                 puts a window into each; prints "ready", and waits for a line
  lazy           shows a window without a background at 0+0, of 160x200, below all others; draws
                 it plain, and from then on only for the command "draw". Other commands: "hide",
                 "show", "raise", "resize W H", "place X Y". Prints "ready" and its ID, and "done"
                 after a command
  compositor     claims to be a compositor, and shows a plain window at 0+0, of 160x200, below all
                 others, which it never draws. Prints "ready", and a line after each command:
                 "desktop N" and "roots" write these properties of the root, "exposures" prints how
                 often it was asked to draw the window
  crowd          makes 3000 windows that are not shown, prints "ready", and waits for a line
  herd COUNT [all]        shows COUNT marked windows and moves the last continuously, or one that
                 contains all; prints "ready" when it has begun
  properties     gives windows properties of every type, format and size, and says "done"
"""
import random
import sys
import time

from Xlib import X, Xatom, display

MAGENTA, CYAN, PLAIN = 0xFF00FF, 0x00FFFF, 0x445566
screen = display.Display()
root = screen.screen().root
MARK = screen.intern_atom("_FRAMEBUS_PROTECTED")
# The changes are random, and the same in every run.
chance = random.Random(1)


def window(parent, colour, x=10, y=10, width=60, height=40):
    return parent.create_window(
        x, y, width, height, 0, screen.screen().root_depth, X.InputOutput, X.CopyFromParent,
        background_pixel=colour, override_redirect=1)


def mark(one):
    one.change_property(MARK, Xatom.CARDINAL, 32, [1])


def seconds(count):
    end = time.monotonic() + float(count)
    while time.monotonic() < end:
        yield


def until_line():
    print("ready", flush=True)
    sys.stdin.readline()


def disturb(one, frames):
    """One random change of a window."""
    verb = chance.randrange(9)
    x, y = chance.randrange(-20, 300), chance.randrange(-20, 200)
    if verb == 0:
        one.configure(x=x, y=y)
    elif verb == 1:
        one.configure(width=chance.randrange(1, 120), height=chance.randrange(1, 90))
    elif verb == 2:
        one.configure(stack_mode=chance.choice([X.Above, X.Below]))
    elif verb == 3:
        one.reparent(chance.choice(frames), x, y)
    elif verb == 4:
        one.unmap()
        one.map()
    elif verb == 5:
        one.configure(border_width=chance.randrange(0, 8))
    elif verb == 6:
        chance.choice(frames[1:]).configure(x=x, y=y)
    elif verb == 7:
        one.set_wm_class("a", "b")
    else:
        one.change_attributes(override_redirect=1)


def race(length):
    outer = window(root, PLAIN, 20, 20, 200, 150)
    inner = window(outer, PLAIN, 5, 5, 150, 100)
    frames = [root, outer, inner]
    for frame in frames[1:]:
        frame.map()
    for _ in seconds(length):
        one = window(chance.choice(frames), MAGENTA)
        one.map()
        for _ in range(chance.randrange(4)):
            disturb(one, frames)
        mark(one)
        screen.sync()
        begin = time.monotonic_ns()
        secret = window(chance.choice(frames), CYAN, chance.randrange(200), chance.randrange(150))
        mark(secret)
        secret.map()
        for _ in range(chance.randrange(20)):
            disturb(one, frames)
            disturb(secret, frames)
            if chance.randrange(4) == 0:
                screen.sync()
        if chance.randrange(3) == 0:
            time.sleep(0.05)
        screen.sync()
        print(begin, time.monotonic_ns(), flush=True)
        one.destroy()
        secret.destroy()
        screen.sync()


def many(count):
    for index in range(int(count)):
        one = window(root, PLAIN, index % 300, index % 200, 4, 4)
        if index % 100 == 0:
            mark(one)
        one.map()
    screen.sync()
    until_line()


def deep(levels):
    parent = root
    for _ in range(int(levels)):
        parent = window(parent, PLAIN, 0, 0, 100, 80)
        parent.map()
    secret = window(parent, CYAN)
    mark(secret)
    secret.map()
    screen.sync()
    until_line()


def unrest(which="own"):
    if which in ["own", "marked"]:
        one = window(root, CYAN if which == "marked" else PLAIN, 100, 100)
        if which == "marked":
            mark(one)
        one.map()
    else:
        one = screen.create_resource_object("window", int(which, 16))
    screen.sync()
    print("ready", flush=True)
    step = 0
    while True:
        step += 1
        one.configure(x=100 + step % 20, y=100 + step % 7)
        if step % 100 == 0:
            screen.flush()


def side(least, end):
    """A width or height that is not the one in the end."""
    return chance.choice([number for number in range(least, end) if number not in (70, 90)])


def resize(identifier, length):
    one = screen.create_resource_object("window", int(identifier, 16))
    for _ in seconds(length):
        for _ in range(20):
            one.configure(
                width=side(1, 200), height=side(1, 150),
                border_width=chance.randrange(0, 3))
        screen.sync()
    one.configure(width=90, height=70, border_width=0)
    screen.sync()


def resize_screen(length):
    resources = root.xrandr_get_screen_resources()
    for crtc in resources.crtcs:
        screen.xrandr_set_crtc_config(crtc, resources.config_timestamp, 0, 0, 0, 1, [])
    for _ in seconds(length):
        for _ in range(20):
            root.xrandr_set_screen_size(
                side(16, 320), side(16, 240), 100, 100)
        screen.sync()
    root.xrandr_set_screen_size(90, 70, 100, 100)
    screen.sync()


def saver(length):
    for _ in seconds(length):
        screen.force_screen_saver(X.ScreenSaverActive)
        screen.force_screen_saver(X.ScreenSaverReset)
        screen.sync()
    screen.force_screen_saver(X.ScreenSaverReset)
    screen.sync()


def cursor(side, length):
    side = int(side)
    shape = root.create_pixmap(side, side, 1)
    ink = shape.create_gc(foreground=1)
    shape.fill_rectangle(ink, 0, 0, side, side)
    for _ in seconds(length):
        colour = (chance.randrange(65536), 0, 0)
        one = shape.create_cursor(
            shape, colour, colour, chance.randrange(side), chance.randrange(side))
        root.change_attributes(cursor=one)
        one.free()
        screen.sync()
    root.change_attributes(cursor=X.NONE)
    screen.sync()


def hints():
    others = list(inside(root))
    owner = window(root, PLAIN)
    embedded = screen.intern_atom("_XEMBED_INFO")
    for one in others:
        one.change_property(Xatom.WM_TRANSIENT_FOR, Xatom.WINDOW, 32, [owner.id])
        one.change_property(embedded, embedded, 32, [0, 1])
        one.change_attributes(override_redirect=0)
        window(one, PLAIN, 0, 0, 1, 1).map()
    write_roots(others)
    screen.sync()
    until_line()


def write_roots(windows):
    root.change_property(
        screen.intern_atom("_NET_VIRTUAL_ROOTS"), Xatom.WINDOW, 32, [one.id for one in windows])


def inside(outer):
    for one in outer.query_tree().children:
        yield one
        yield from inside(one)


def lazy():
    one = root.create_window(
        0, 0, 160, 200, 0, screen.screen().root_depth, X.InputOutput, X.CopyFromParent,
        background_pixmap=X.NONE, override_redirect=1)
    one.configure(stack_mode=X.Below)
    one.map()
    ink = one.create_gc(foreground=PLAIN)
    one.fill_rectangle(ink, 0, 0, 320, 240)
    screen.sync()
    print("ready", hex(one.id), flush=True)
    for line in sys.stdin:
        verb, *numbers = line.split()
        first, *second = map(int, numbers or [0])
        if verb == "draw":
            one.fill_rectangle(ink, 0, 0, 320, 240)
        elif verb == "hide":
            one.unmap()
        elif verb == "show":
            one.map()
        elif verb == "raise":
            one.configure(stack_mode=X.Above)
        elif verb == "resize":
            one.configure(width=first, height=second[0])
        elif verb == "place":
            one.configure(x=first, y=second[0])
        screen.sync()
        print("done", flush=True)


def claim_compositor():
    one = window(root, PLAIN, -9, -9, 1, 1)
    one.set_selection_owner(screen.intern_atom("_NET_WM_CM_S0"), X.CurrentTime)
    screen.sync()


def compositor():
    claim_compositor()
    one = window(root, PLAIN, 0, 0, 160, 200)
    one.change_attributes(event_mask=X.ExposureMask)
    one.configure(stack_mode=X.Below)
    one.map()
    desktop = screen.intern_atom("_NET_CURRENT_DESKTOP")
    root.change_property(desktop, Xatom.CARDINAL, 32, [0])
    screen.sync()
    print("ready", flush=True)
    exposures = 0
    for line in sys.stdin:
        verb, *numbers = line.split()
        if verb == "desktop":
            root.change_property(desktop, Xatom.CARDINAL, 32, [int(numbers[0])])
        elif verb == "roots":
            write_roots([])
        screen.sync()
        while screen.pending_events():
            exposures += screen.next_event().type == X.Expose
        print(exposures, flush=True)


def crowd():
    for _ in range(3000):
        window(root, PLAIN)
    screen.sync()
    until_line()


def herd(count, which="last"):
    outer = root
    if which == "all":
        outer = window(root, PLAIN, 0, 0, 200, 200)
        outer.map()
    for index in range(int(count)):
        one = window(outer, CYAN, index % 190, index % 190, 4, 4)
        mark(one)
        one.map()
    screen.sync()
    print("ready", flush=True)
    moving = outer if which == "all" else one
    step = 0
    while True:
        step += 1
        moving.configure(x=step % 50)
        screen.flush()


def properties():
    names = [
        "_FRAMEBUS_PROTECTED", "_NET_WM_PID", "WM_CLASS", "WM_NAME", "WM_CLIENT_LEADER",
        "WM_TRANSIENT_FOR", "_GTK_APPLICATION_ID", "_KDE_NET_WM_DESKTOP_FILE",
    ]
    one = window(root, PLAIN)
    one.map()
    other = window(root, PLAIN)
    active = screen.intern_atom("_NET_ACTIVE_WINDOW")
    values = [
        (8, b""), (8, b"\0"), (8, b"\xff" * 5), (8, b"a" * 200000), (16, [1]), (16, [65535] * 700),
        (32, []), (32, [0]), (32, [0xFFFFFFFF] * 50000), (32, [other.id]), (32, [one.id]),
    ]
    for name in names + ["_NET_ACTIVE_WINDOW"]:
        for kind in [Xatom.STRING, Xatom.CARDINAL, Xatom.WINDOW, Xatom.ATOM, 0x1FFFFFFF & MARK]:
            for format, value in values:
                on = root if name == "_NET_ACTIVE_WINDOW" else one
                on.change_property(screen.intern_atom(name), kind, format, value)
                root.change_property(active, Xatom.WINDOW, 32, [on.id])
            screen.sync()
    # Each is transient for the other, which well-behaved windows never are.
    one.change_property(Xatom.WM_TRANSIENT_FOR, Xatom.WINDOW, 32, [other.id])
    other.change_property(Xatom.WM_TRANSIENT_FOR, Xatom.WINDOW, 32, [one.id])
    # The active window is not a window, then an input-only one, then one just destroyed.
    silent = root.create_window(0, 0, 9, 9, 0, 0, X.InputOnly, X.CopyFromParent)
    for identifier in [0, 1, root.id, silent.id, 0xFFFFFFFF]:
        root.change_property(active, Xatom.WINDOW, 32, [identifier])
        screen.sync()
        time.sleep(0.05)
    for _ in range(300):
        brief = window(root, PLAIN)
        brief.map()
        root.change_property(active, Xatom.WINDOW, 32, [brief.id])
        brief.destroy()
    for x, y, width, height in [(-32768, -32768, 1, 1), (32767, 32767, 32767, 32767),
                                (0, 0, 32767, 1), (-32768, 0, 65535, 65535)]:
        one.configure(x=x, y=y, width=width, height=height, border_width=32767)
        mark(one)
        screen.sync()
        time.sleep(0.05)
    print("done", flush=True)


roles = {
    "race": race, "many": many, "deep": deep, "unrest": unrest, "resize": resize, "hints": hints,
    "lazy": lazy, "compositor": compositor, "crowd": crowd, "herd": herd, "screen": resize_screen,
    "saver": saver, "cursor": cursor, "properties": properties,
}
# Errors about destroyed windows are expected.
screen.set_error_handler(lambda *_: None)
roles[sys.argv[1]](*sys.argv[2:])
