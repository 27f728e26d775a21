"""A WHEP endpoint on aiortc and aiohttp, independent of FrameBus: a moving picture and a tone.

  whep_server.py PORT [key=value…]

It writes `listening`, the requests (`POST 201`, `PATCH 204`, `DELETE 200`), whether an offer has a
bearer token (`bearer yes`), and the number of media connections (`open 1`). Keys:

  token=T        requires this bearer token
  codec=NAME     sends only this codec
  size=WxH       of the pictures (default: 320x240)
  tls=CERT,KEY   uses TLS
  answers=TEXT   answers offers with this text instead of a description
  link=TEXT      the header Link of each answer; the candidates are then written, as
                 `candidate typ relay …`
  busy=N         answers the first N requests to DELETE with 503
  shift=S        its clock is S seconds fast
  marks=yes      draws into each picture its number and when it was drawn, as the test pattern does
"""
import asyncio
import fractions
import math
import ssl
import sys
import time
import uuid

import aioice.ice

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"] if use_ipv4 else []

import aiortc.clock
import av
from aiohttp import web
from aiortc import RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack

from test_pattern import picture_of

settings = dict(word.split("=", 1) for word in sys.argv[2:])
width, height = map(int, settings.get("size", "320x240").split("x"))
sessions = {}
busy = [int(settings.get("busy", "0"))]
if "shift" in settings:
    # What the sender reports: the time of RTCP's reports alone.
    true_time = aiortc.clock.current_datetime
    shift = aiortc.clock.datetime.timedelta(seconds=float(settings["shift"]))
    aiortc.clock.current_datetime = lambda: true_time() + shift


def say(*words):
    print(*words, flush=True)


class Picture(VideoStreamTrack):
    count = 0

    async def recv(self):
        pts, time_base = await self.next_timestamp()
        frame = av.VideoFrame(width, height, "yuv420p")
        self.count += 1
        if "marks" in settings:
            luma = picture_of(self.count, time.monotonic_ns() // 1_000_000, width, height)
            for index, plane in enumerate(frame.planes):
                plane.update(luma if index == 0 else bytes([128]) * plane.buffer_size)
            frame.pts, frame.time_base = pts, time_base
            return frame
        for index, plane in enumerate(frame.planes):
            shade = (self.count * 4) % 256 if index == 0 else 128
            plane.update(bytes([shade]) * plane.buffer_size)
        frame.pts, frame.time_base = pts, time_base
        return frame


class Tone(AudioStreamTrack):
    async def recv(self):
        frame = await super().recv()
        samples, rate = frame.samples, frame.sample_rate
        values = b"".join(
            int(12000 * math.sin(2 * math.pi * 1000 * (frame.pts + i) / rate)).to_bytes(
                2, "little", signed=True) for i in range(samples))
        frame.planes[0].update(values)
        frame.time_base = fractions.Fraction(1, rate)
        return frame


async def post(request):
    given = request.headers.get("Authorization", "")
    say("bearer", "yes" if given else "no")
    if "token" in settings and given != "Bearer " + settings["token"]:
        say("POST 401")
        return web.Response(status=401, text="not this token")
    if "answers" in settings:
        return web.Response(
            status=201, text=settings["answers"], content_type="application/sdp",
            headers={"Location": "/session/none"})
    peer = RTCPeerConnection()
    await peer.setRemoteDescription(RTCSessionDescription(await request.text(), "offer"))
    for transceiver in peer.getTransceivers():
        peer.addTrack(Picture() if transceiver.kind == "video" else Tone())
        if "codec" in settings and transceiver.kind == "video":
            codecs = RTCRtpSender.getCapabilities("video").codecs
            transceiver.setCodecPreferences(
                [codec for codec in codecs if codec.mimeType == "video/" + settings["codec"]])
    await peer.setLocalDescription(await peer.createAnswer())
    name = uuid.uuid4().hex
    sessions[name] = peer
    say("POST 201")
    say("open", len(sessions))
    headers = {"Location": f"/session/{name}", "ETag": '"first"'}
    if "link" in settings:
        headers["Link"] = settings["link"]
    return web.Response(
        status=201, text=peer.localDescription.sdp, content_type="application/sdp",
        headers=headers)


async def patch(request):
    known = request.match_info["name"] in sessions
    typed = request.content_type == "application/trickle-ice-sdpfrag"
    status = 204 if known and typed else 404
    if "link" in settings:
        for line in (await request.text()).splitlines():
            words = line.split()
            if line.startswith("a=candidate:") and len(words) > 7:
                say("candidate", *words[6:8], words[4])
    say("PATCH", status)
    return web.Response(status=status)


async def delete(request):
    if busy[0] > 0:
        busy[0] -= 1
        say("DELETE 503")
        return web.Response(status=503)
    peer = sessions.pop(request.match_info["name"], None)
    if peer is not None:
        await peer.close()
    say("DELETE", 200 if peer is not None else 404)
    say("open", len(sessions))
    return web.Response(status=200 if peer is not None else 404)


async def main():
    app = web.Application()
    app.add_routes([
        web.post("/whep", post), web.patch("/session/{name}", patch),
        web.delete("/session/{name}", delete)])
    context = None
    if "tls" in settings:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*settings["tls"].split(","))
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(sys.argv[1]), ssl_context=context).start()
    say("listening")
    await asyncio.Event().wait()


asyncio.run(main())
