#!/usr/bin/python3
"""Clicks at places of a screen of mutter, as a user of a remote desktop does.

An independent witness for the tests: it uses mutter's interface org.gnome.Mutter.RemoteDesktop.

usage: click_places.py X,Y …
"""
import sys
import time

import dbus

NAME, PATH = "org.gnome.Mutter.RemoteDesktop", "/org/gnome/Mutter/RemoteDesktop"
LEFT = 272
bus = dbus.SessionBus()
desktop = dbus.Interface(bus.get_object(NAME, PATH), NAME)
session = dbus.Interface(bus.get_object(NAME, desktop.CreateSession()), NAME + ".Session")
session.Start()
for place in sys.argv[1:]:
    x, y = map(float, place.split(","))
    # From the corner, as positions are known only in a screen cast of its own.
    session.NotifyPointerMotionRelative(-10000.0, -10000.0)
    session.NotifyPointerMotionRelative(x, y)
    time.sleep(0.2)
    session.NotifyPointerButton(LEFT, True)
    session.NotifyPointerButton(LEFT, False)
    time.sleep(0.5)
session.Stop()
