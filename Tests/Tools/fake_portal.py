#!/usr/bin/python3
"""A desktop's ScreenCast portal on the session bus, for one node, with the faults that a test asks
for, and its Camera portal.

usage: fake_portal.py NODE-NAME [FAULT]
It prints `ready`, `camera` when a program asks for cameras, `dialog TYPES CURSOR` when a user would be asked, `restored` when a token took the
place of that, `token TOKEN` for each one that it gives, and `gone` when a program's session has
ended with its connection. Lines on standard input: `close` closes the sessions, `revoke` forgets all
tokens, `fault FAULT` replaces the fault.

Faults: decline, cancel, refuse, silent (no answer to any call), absent-user (no answer to Start),
steady (looks for the node once),
no-streams, odd-streams, odd-response, odd-handle, long-handle, no-descriptor, no-node,
long-token, bad-token, odd-properties, monitor-only, other-sender.
"""
import json
import os
import socket
import subprocess
import sys

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

PORTAL = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
CAST = "org.freedesktop.portal.ScreenCast"
CAMERA = "org.freedesktop.portal.Camera"
node_name = sys.argv[1]
fault = sys.argv[2] if len(sys.argv) > 2 else ""
tokens = {}
sessions = {}


def say(*words):
    print(*words, flush=True)


known = []


def node_id():
    """The newest node of that name."""
    if fault == "steady" and known:
        return known[0]
    objects = json.loads(subprocess.run(["pw-dump"], capture_output=True, check=True).stdout)
    found = [
        item["id"] for item in objects
        if item["type"].endswith(":Node")
        and item["info"]["props"].get("node.name") == node_name
    ]
    known[:] = [max(found)] if found else []
    return known[0] if known else 4_000_000


def remote():
    """A connection to PipeWire."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["XDG_RUNTIME_DIR"] + "/pipewire-0")
    return dbus.types.UnixFd(connection)


class Session(dbus.service.Object):
    def __init__(self, path, sender):
        super().__init__(bus, path)
        self.path, self.sender, self.options, self.watch = path, sender, {}, None

    @dbus.service.method("org.freedesktop.portal.Session")
    def Close(self):
        pass

    def closed(self):
        signal = dbus.lowlevel.SignalMessage(
            self.path, "org.freedesktop.portal.Session", "Closed")
        signal.set_destination(self.sender)
        signal.append(dbus.Dictionary(signature="sv"), signature="a{sv}")
        bus.send_message(signal)


def request_path(sender, options):
    token = options.get("handle_token", "t")
    return f"{PATH}/request/{sender[1:].replace('.', '_')}/{token}"


def respond(sender, path, code, results, connection=None):
    signal = dbus.lowlevel.SignalMessage(path, "org.freedesktop.portal.Request", "Response")
    signal.set_destination(sender)
    if fault == "odd-response":
        signal.append("no number", signature="s")
    else:
        signal.append(dbus.UInt32(code), dbus.Dictionary(results, signature="sv"),
                      signature="ua{sv}")
    (connection or bus).send_message(signal)


class CameraPortal(dbus.service.Object):
    """The camera portal, by which browsers read PipeWire's cameras: anybody may."""

    @dbus.service.method(CAMERA, in_signature="a{sv}", out_signature="o", sender_keyword="sender")
    def AccessCamera(self, options, sender):
        say("camera")
        path = request_path(sender, options)
        GLib.idle_add(respond, sender, path, 0, {})
        return path

    @dbus.service.method(CAMERA, in_signature="a{sv}", out_signature="h")
    def OpenPipeWireRemote(self, options):
        return remote()


class Portal(CameraPortal):
    @dbus.service.method(
        "org.freedesktop.DBus.Properties", in_signature="s", out_signature="a{sv}",
        async_callbacks=("ok", "error"))
    def GetAll(self, interface, ok, error):
        if fault == "silent":
            return
        if interface == CAMERA:
            return ok({"version": dbus.UInt32(1), "IsCameraPresent": dbus.Boolean(True)})
        if fault == "odd-properties":
            return ok({"version": dbus.String("four", variant_level=1)})
        types = 1 if fault == "monitor-only" else 7
        ok({"version": dbus.UInt32(4), "AvailableSourceTypes": dbus.UInt32(types),
            "AvailableCursorModes": dbus.UInt32(3)})

    @dbus.service.method(CAST, in_signature="a{sv}", out_signature="o", sender_keyword="sender")
    def CreateSession(self, options, sender):
        token = options.get("session_handle_token", "s")
        handle = f"{PATH}/session/{sender[1:].replace('.', '_')}/{token}"
        sessions[handle] = Session(handle, sender)
        sessions[handle].watch = bus.watch_name_owner(
            sender, lambda owner: owner or self.leave(handle))
        path = request_path(sender, options)
        if fault == "other-sender":
            stranger = dbus.SessionBus(private=True)
            GLib.idle_add(respond, sender, path, 0, {"session_handle": "/stranger"}, stranger)
            return path
        shown = "not a path" if fault == "odd-handle" else handle
        if fault == "long-handle":
            shown = "/session" * 100
        GLib.idle_add(respond, sender, path, 0, {"session_handle": shown})
        return path

    def leave(self, handle):
        session = sessions.pop(handle, None)
        if session is not None:
            session.remove_from_connection()
            # A bus gives a connection 512 rules.
            session.watch.cancel()
            say("gone")

    @dbus.service.method(CAST, in_signature="oa{sv}", out_signature="o", sender_keyword="sender")
    def SelectSources(self, handle, options, sender):
        if fault == "refuse":
            raise dbus.DBusException("sources are not for you", name=f"{CAST}.Error.NotAllowed")
        token = options.get("restore_token")
        if fault == "bad-token" and token is not None:
            raise dbus.DBusException("no such token", name=f"{CAST}.Error.InvalidArgument")
        sessions[handle].options = options
        path = request_path(sender, options)
        GLib.idle_add(respond, sender, path, 0, {})
        return path

    @dbus.service.method(CAST, in_signature="osa{sv}", out_signature="o", sender_keyword="sender")
    def Start(self, handle, parent, options, sender):
        path = request_path(sender, options)
        asked = sessions[handle].options
        token = str(asked.get("restore_token", ""))
        # A token serves once.
        if tokens.pop(token, None) is None:
            say("dialog", int(asked["types"]), int(asked.get("cursor_mode", 0)))
        else:
            say("restored")
        if fault == "absent-user":
            return path
        if fault in ("decline", "cancel"):
            GLib.idle_add(respond, sender, path, 1 if fault == "decline" else 2, {})
            return path
        fresh = "x" * 5000 if fault == "long-token" else os.urandom(8).hex()
        tokens[fresh] = True
        say("token", fresh)
        number = 3_999_999 if fault == "no-node" else node_id()
        stream = dbus.Struct(
            (dbus.UInt32(number), dbus.Dictionary({"source_type": dbus.UInt32(1)},
                                                  signature="sv")), signature="ua{sv}")
        results = {"streams": dbus.Array([stream], signature="(ua{sv})"), "restore_token": fresh,
                   "stranger": dbus.Array([1.5], signature="d")}
        if fault == "no-streams":
            results["streams"] = dbus.Array([], signature="(ua{sv})")
        if fault == "odd-streams":
            results["streams"] = dbus.Array(["a node"], signature="s")
        GLib.idle_add(respond, sender, path, 0, results)
        return path

    @dbus.service.method(CAST, in_signature="oa{sv}", out_signature="h")
    def OpenPipeWireRemote(self, handle, options):
        if fault == "no-descriptor":
            raise dbus.DBusException("no remote", name=f"{CAST}.Error.Failed")
        return remote()


def command(channel, condition):
    global fault
    words = channel.readline().split()
    if not words:
        loop.quit()
        return False
    if words[0] == "close":
        for session in list(sessions.values()):
            session.closed()
    if words[0] == "revoke":
        tokens.clear()
    if words[0] == "fault":
        fault = words[1] if len(words) > 1 else ""
    say("done", *words)
    return True


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
portal = Portal(bus, PATH)
name = dbus.service.BusName(PORTAL, bus)
loop = GLib.MainLoop()
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, command)
say("ready")
loop.run()
