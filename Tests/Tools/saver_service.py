#!/usr/bin/python3
"""A desktop's screen saver service on the session bus, which reports who inhibits it.

usage: saver_service.py
It prints `ready`, `inhibit COOKIE APPLICATION: REASON`, `uninhibit COOKIE`, and `gone COOKIE` when a
program that had inhibited it is no longer on the bus.
"""
import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.ScreenSaver"


def say(*words):
    print(*words, flush=True)


class Saver(dbus.service.Object):
    count = 0

    @dbus.service.method(NAME, in_signature="ss", out_signature="u", sender_keyword="sender")
    def Inhibit(self, application, reason, sender):
        self.count += 1
        cookie = self.count
        say("inhibit", cookie, f"{application}: {reason}")
        bus.watch_name_owner(sender, lambda owner: owner or say("gone", cookie))
        return dbus.UInt32(cookie)

    @dbus.service.method(NAME, in_signature="u")
    def UnInhibit(self, cookie):
        say("uninhibit", cookie)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
saver = Saver(bus, "/org/freedesktop/ScreenSaver")
name = dbus.service.BusName(NAME, bus)
say("ready")
GLib.MainLoop().run()
