"""GStreamer's RTSP server, with a moving picture and a tone.

  rtsp_server.py PORT [key=value…]

Writes `ready`. Its streams are /cam and /small; keys:

  user=NAME:PASSWORD  only for this user
  tls=CERT,KEY        over TLS
  marks=yes           draws into each picture its number and when it was drawn, as the test
                      pattern does
"""
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, Gst, GstRtspServer

from test_pattern import picture_of

settings = dict(word.split("=", 1) for word in sys.argv[2:])
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
auth = GstRtspServer.RTSPAuth()
if "tls" in settings:
    auth.set_tls_certificate(Gio.TlsCertificate.new_from_files(*settings["tls"].split(",")))
token = GstRtspServer.RTSPToken()
token.set_string("media.factory.role", "viewer")
permissions = GstRtspServer.RTSPPermissions()
for right in ("access", "construct"):
    permissions.add_permission_for_role("viewer", "media.factory." + right, True)
if "user" in settings:
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(*settings["user"].split(":")), token)
else:
    auth.set_default_token(token)
server.set_auth(auth)


def draw(source):
    number, due = 0, time.monotonic()
    while True:
        number += 1
        picture = picture_of(number, time.monotonic_ns() // 1_000_000, 320, 240)
        picture += bytes([128]) * (len(picture) // 2)
        if source.emit("push-buffer", Gst.Buffer.new_wrapped(picture)) != Gst.FlowReturn.OK:
            return
        due += 0.04
        time.sleep(max(0, due - time.monotonic()))


def begin(factory, media):
    source = media.get_element().get_by_name("pictures")
    threading.Thread(target=draw, args=[source], daemon=True).start()


for name, size in (("/cam", "width=320,height=240"), ("/small", "width=160,height=120")):
    factory = GstRtspServer.RTSPMediaFactory()
    pictures = f"videotestsrc is-live=true ! video/x-raw,{size},framerate=25/1"
    if "marks" in settings:
        pictures = (
            "appsrc name=pictures is-live=true do-timestamp=true format=time "
            "caps=video/x-raw,format=I420,width=320,height=240,framerate=25/1")
        factory.connect("media-configure", begin)
    factory.set_launch(
        f"( {pictures} "
        "! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! rtph264pay name=pay0 "
        "pt=96 audiotestsrc is-live=true ! avenc_aac ! rtpmp4apay name=pay1 pt=97 )")
    factory.set_permissions(permissions)
    server.get_mount_points().add_factory(name, factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
