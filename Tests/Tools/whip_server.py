"""A WHIP endpoint on aiortc and aiohttp, independent of FrameBus, that decodes what it receives.

  whip_server.py PORT [key=value…]

It writes one line per event: `listening`, the requests (`POST 201`), the frame
numbers that the test pattern draws (`frame 17`), the pitch of each second of sound
(`sound 440.00`), whether an offer has a bearer token (`bearer yes`), how a session ends. Keys:

  token=T         requires this bearer token
  links=FILE      sends the lines of this file as Link headers
  patch=no        answers 405 to PATCH
  codec=NAME      accepts only this codec, and answers 406 to an offer without it
  path=PATH       is served there instead of at whip
  shut=FILE       answers 503 while this file exists
  tls=CERT,KEY    uses TLS
  address=A       listens there instead of on loopback
  media=A         uses this address alone for media, and knows no loopback address but this one;
                  nothing: uses none
  answers=D       has this direction in its answer, such as inactive
  refuses=KIND    answers that it takes no audio, or no video
  sends=yes       answers that it sends as well, and does so
  fingerprint=no  answers with the fingerprint of a certificate that it does not have
  busy=N          answers 503 to the first offer, with Retry-After: N seconds, or, with a letter
                  behind the number, their date
  closes=N        ends the first media connection, but not its session, after N frames
  pli=N           asks for a key frame after every N frames, by PLI (RFC 4585)
  fir=N           the same by FIR (RFC 5104)
  plis=N,M…       asks for one by PLI after these numbers of frames
  arrivals=yes    reports when each packet arrived, as browsers do; with real-time priority, for root
  remb=N          allows at most N bits a second of pictures
  times=yes       also writes media times: of each picture, beside the time that the test pattern
                  drew (`time 1.2 1.2`), of flashes and beeps by the sender's clock (`flash 9.0`), and
                  when a report relates the two (`report video`)
  points=X.Y,…    also writes each picture's time and its colours there (`points 1.2 ff00ff 404040`);
                  pictures of another size than the first are fitted into that
  seen=yes        also writes when each picture was decoded and the age that its mark shows, in
                  milliseconds (`seen 123456 48 704x400`)
  sizes=N         also writes how many bytes of media arrived with each N pictures (`bytes 40000`)

Of the pictures it also says which are key frames (`key 17`), the longest time for which none came
(`freeze 0.21`, whenever it grows), and the number of each packet that was sent again (`rtx 17`).
"""
import asyncio
import ipaddress
import os
import re
import ssl
import sys
import time
import uuid
from email.utils import formatdate

import aioice.ice

settings = dict(word.split("=", 1) for word in sys.argv[2:])
address = settings.get("address", "127.0.0.1")
media = settings.get("media", address if ipaddress.ip_address(address).is_loopback else None)
if media is not None:
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [
        each for each in media.split() if (use_ipv6 if ":" in each else use_ipv4)]


def is_foreign(other):
    """Whether a server that uses none of the loopback addresses but its own ignores this one."""
    return "media" in settings and other != media and ipaddress.ip_address(other).is_loopback


class Protocol(aioice.ice.StunProtocol):
    def datagram_received(self, data, addr):
        if not is_foreign(addr[0]):
            super().datagram_received(data, addr)


aioice.ice.StunProtocol = Protocol

import aiortc.rtcrtpreceiver
from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack
from aiortc.sdp import candidate_from_sdp

from feedback import Arrivals, ask_again, send_fir, send_remb
from pitch import Pitch
from media_times import MediaTimes
from test_pattern import whole_mark

sessions = {}
arrivals = Arrivals() if settings.get("arrivals") == "yes" else None
if arrivals:
    # On a busy machine, waiting for a processor would be a delay of the link.
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def say(*words):
    print(*words, flush=True)


unwrap = aiortc.rtcrtpreceiver.unwrap_rtx


def unwrap_and_say(*arguments, **named):
    packet = unwrap(*arguments, **named)
    say("rtx", packet.sequence_number)
    return packet


aiortc.rtcrtpreceiver.unwrap_rtx = unwrap_and_say


async def watch(receiver, frame, number, count):
    """Reports whether this is a key frame, and requests one if it is due."""
    if frame.key_frame:
        say("key", number)
    if "remb" in settings:
        await send_remb(receiver, int(settings["remb"]))
    for source in receiver.getSynchronizationSources():
        is_listed = str(count) in settings.get("plis", "").split(",")
        if is_listed or count % int(settings.get("pli", sys.maxsize)) == 0:
            await receiver._send_rtcp_pli(source.source)
        if count % int(settings.get("fir", sys.maxsize)) == 0:
            await send_fir(receiver, source.source, count)
    if count == int(settings.get("closes", -1)):
        del settings["closes"]
        await receiver.transport.stop()


def colours(frame):
    """Of the points that were asked for, in the first picture's size.

    A picture of another size is fitted into that one, between black borders."""
    plane = frame.to_rgb().planes[0]
    pixels = bytes(plane)
    width, height = settings.setdefault("first size", (frame.width, frame.height))
    scale = min(width / frame.width, height / frame.height)
    for point in settings["points"].split(","):
        x, y = map(int, point.split("."))
        x = int((x - (width - frame.width * scale) / 2) // scale)
        y = int((y - (height - frame.height * scale) / 2) // scale)
        start = y * plane.line_size + x * 3
        is_inside = 0 <= x < frame.width and 0 <= y < frame.height
        yield pixels[start:start + 3].hex() if is_inside else "000000"


async def received(receiver):
    """The bytes that have arrived on its connection so far."""
    stats = await receiver.getStats()
    return sum(each.bytesReceived for each in stats.values() if each.type == "transport")


async def consume(receiver, track):
    count = 0
    pitch = Pitch()
    longest, newest = 0, time.monotonic()
    byte_count = 0
    times = MediaTimes(receiver, track.kind) if "times" in settings else None
    tasks = []
    if track.kind == "video":
        tasks.append(asyncio.ensure_future(ask_again(receiver)))
        if arrivals:
            tasks.append(asyncio.ensure_future(arrivals.report(receiver)))
    while True:
        try:
            frame = await track.recv()
        except Exception as error:
            for task in tasks:
                task.cancel()
            say("ended", track.kind, count, type(error).__name__)
            return
        count += 1
        if times:
            for line in times.of(frame):
                say(line)
        if track.kind == "video":
            value = whole_mark(frame)
            number = None if value is None else value >> 32
            say("frame", number, f"{frame.width}x{frame.height}")
            if "seen" in settings and value is not None:
                milliseconds = int(time.monotonic() * 1000)
                age = (milliseconds - value) % 2**32
                say("seen", milliseconds, age, f"{frame.width}x{frame.height}")
            if "points" in settings:
                say("points", f"{float(frame.pts * frame.time_base):.4f}", *colours(frame))
            await watch(receiver, frame, number, count)
            if count % int(settings.get("sizes", sys.maxsize)) == 0:
                total = await received(receiver)
                say("bytes", total - byte_count)
                byte_count = total
            now = time.monotonic()
            if count > 1 and now - newest > longest:
                longest = now - newest
                say("freeze", f"{longest:.2f}")
            newest = now
        elif heard := pitch.of_second(frame):
            say("sound", *heard)


def forged(fingerprint):
    """The same with each byte inverted."""
    return ":".join(f"{255 - int(byte, 16):02X}" for byte in fingerprint.split(":"))


def is_refused(request):
    token = settings.get("token")
    return token and request.headers.get("Authorization") != "Bearer " + token


async def post(request):
    if is_refused(request):
        say("POST 401")
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
    if request.content_type != "application/sdp":
        say("POST 415")
        return web.Response(status=415)
    if os.path.exists(settings.get("shut", "")):
        say("POST 503", *filter(None, [request.query_string]))
        return web.Response(status=503)
    if busy := settings.pop("busy", None):
        say("POST 503")
        if not busy.isdigit():
            busy = formatdate(time.time() + int(busy[:-1]), usegmt=True)
        return web.Response(status=503, headers={"Retry-After": busy}, text="full")
    say("bearer", "yes" if "Authorization" in request.headers else "no")
    offer = await request.text()
    for line in offer.splitlines():
        if line.startswith(("a=setup", "a=rtcp-fb", "a=fmtp", "a=group", "a=sendonly", "a=extmap")):
            say("offer", line)
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    name = uuid.uuid4().hex
    sessions[name] = connection

    @connection.on("connectionstatechange")
    def changed():
        say("state", connection.connectionState)

    @connection.on("track")
    def added(track):
        receiver = next(each for each in connection.getReceivers() if each.track is track)
        asyncio.ensure_future(consume(receiver, track))

    if "sends" in settings:
        connection.addTrack(AudioStreamTrack())
        connection.addTrack(VideoStreamTrack())
        offer = offer.replace("a=sendonly", "a=sendrecv")
    await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
    if "codec" in settings:
        for transceiver in connection.getTransceivers():
            if transceiver.kind == "video":
                transceiver._codecs = [
                    codec for codec in transceiver._codecs if codec.name == settings["codec"]]
                if not transceiver._codecs:
                    say("POST 406")
                    await sessions.pop(name).close()
                    return web.Response(status=406, text="no codec in common")
    await connection.setLocalDescription(await connection.createAnswer())
    headers = web.Response().headers.copy()
    headers["Location"] = f"/session/{name}"
    headers["ETag"] = f'"{name[:8]}"'
    if "links" in settings:
        for line in open(settings["links"]):
            headers.add("Link", line.strip())
    answer = connection.localDescription.sdp
    if "answers" in settings:
        answer = answer.replace("a=recvonly", "a=" + settings["answers"])
    if "refuses" in settings:
        sections = answer.split("m=")
        answer = "m=".join(
            each.replace("a=recvonly", "a=inactive")
            if each.startswith(settings["refuses"]) else each for each in sections)
    if settings.get("fingerprint") == "no":
        answer = re.sub(
            r"(a=fingerprint:\S+ )(\S+)", lambda found: found[1] + forged(found[2]), answer)
    for line in answer.splitlines():
        if line in ("a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive"):
            say("answer", line)
    say("POST 201", *filter(None, [request.query_string]))
    return web.Response(
        status=201, text=answer, content_type="application/sdp", headers=headers)


async def patch(request):
    connection = sessions.get(request.match_info["name"])
    if is_refused(request) or not connection:
        say("PATCH refused")
        return web.Response(status=404)
    if settings.get("patch") == "no":
        say("PATCH 405")
        return web.Response(status=405)
    if request.content_type != "application/trickle-ice-sdpfrag":
        say("PATCH 415")
        return web.Response(status=415)
    if request.headers.get("If-Match") != f'"{request.match_info["name"][:8]}"':
        say("PATCH 412")
        return web.Response(status=412)
    mid = None
    for line in (await request.text()).splitlines():
        say("fragment", line)
        if line.startswith("a=mid:"):
            mid = line[6:]
        elif line.startswith("a=candidate:"):
            candidate = candidate_from_sdp(line[12:])
            candidate.sdpMid = mid
            if not is_foreign(candidate.ip):
                await connection.addIceCandidate(candidate)
    say("PATCH 204")
    return web.Response(status=204)


async def delete(request):
    connection = sessions.pop(request.match_info["name"], None)
    if is_refused(request) or not connection:
        say("DELETE refused")
        return web.Response(status=404)
    for report in (await connection.getStats()).values():
        if report.type == "outbound-rtp":
            say("sent", report.packetsSent)
    await connection.close()
    say("DELETE 200")
    return web.Response(status=200)


async def main():
    app = web.Application()
    app.add_routes([
        web.post("/" + settings.get("path", "whip"), post), web.patch("/session/{name}", patch),
        web.delete("/session/{name}", delete)])
    runner = web.AppRunner(app)
    await runner.setup()
    context = None
    if "tls" in settings:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*settings["tls"].split(","))
    site = web.TCPSite(
        runner, address, int(sys.argv[1]), ssl_context=context, reuse_address=True)
    await site.start()
    say("listening", site._server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(main())
