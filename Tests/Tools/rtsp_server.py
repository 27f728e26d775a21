"""GStreamer's RTSP server, with a moving picture and a tone.

  rtsp_server.py PORT [key=value…]

Writes `ready`. Its streams are /cam and /small; keys:

  user=NAME:PASSWORD  only for this user
  tls=CERT,KEY        over TLS
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, Gst, GstRtspServer

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
for name, size in (("/cam", "width=320,height=240"), ("/small", "width=160,height=120")):
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        f"( videotestsrc is-live=true ! video/x-raw,{size},framerate=25/1 "
        "! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! rtph264pay name=pay0 "
        "pt=96 audiotestsrc is-live=true ! avenc_aac ! rtpmp4apay name=pay1 pt=97 )")
    factory.set_permissions(permissions)
    server.get_mount_points().add_factory(name, factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
