"""A WHIP endpoint on aiortc and aiohttp, which know nothing of FrameBus: it decodes what it is sent.

  whip_server.py PORT [key=value…]

It writes one line for each thing that happens: `listening`, the requests (`POST 201`), the frame
numbers that the test pattern draws (`frame 17`), how a session ends. Keys:

  token=T         asks for this bearer
  links=FILE      sends the lines of this file as Link headers
  patch=no        answers 405 to PATCH
  codec=NAME      accepts this codec alone
  tls=CERT,KEY    speaks TLS
"""
import array
import asyncio
import ipaddress
import ssl
import sys
import uuid

import aioice.ice

settings = dict(word.split("=", 1) for word in sys.argv[2:])
address = settings.get("address", "127.0.0.1")
if ipaddress.ip_address(address).is_loopback:
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [address] if use_ipv4 else []

from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.sdp import candidate_from_sdp

sessions = {}
COLUMNS, ROWS = 20, 4


def say(*words):
    print(*words, flush=True)


def checksum(value):
    crc = 0xFFFF
    for byte in value.to_bytes(8, "big"):
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021) & 0xFFFF if crc & 0x8000 else crc << 1
    return crc


def mark(frame):
    """The number that the test pattern drew into the frame; None if there is none."""
    side = min(frame.width // (COLUMNS + 2), frame.height // (ROWS + 4))
    plane = frame.planes[0]
    bytes_, stride = memoryview(plane), plane.line_size
    bits = 0
    for index in range(ROWS * COLUMNS):
        x = side * (1 + index % COLUMNS) + side // 2
        y = side * (1 + index // COLUMNS) + side // 2
        bits = bits << 1 | (bytes_[y * stride + x] >= 128)
    value, found = bits >> 16, bits & 0xFFFF
    return value >> 32 if checksum(value) == found else None


def listen(frame, heard):
    """Writes the pitch of each second of sound, by the rises of its first channel through zero."""
    samples = array.array("h", bytes(frame.planes[0])[: frame.samples * 4])[0::2]
    heard.extend(samples)
    if len(heard) >= frame.sample_rate:
        rises = [i for i in range(1, len(heard)) if heard[i - 1] < 0 <= heard[i]]
        seconds = (rises[-1] - rises[0]) / frame.sample_rate if len(rises) > 1 else 0
        pitch = (len(rises) - 1) / seconds if seconds else 0
        say("sound", f"{pitch:.2f}", max(heard))
        heard.clear()


async def consume(session, track):
    count = 0
    heard = []
    while True:
        try:
            frame = await track.recv()
        except Exception as error:
            say("ended", track.kind, count, type(error).__name__)
            return
        count += 1
        if track.kind == "video":
            say("frame", mark(frame), f"{frame.width}x{frame.height}")
        else:
            listen(frame, heard)


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
    offer = await request.text()
    for line in offer.splitlines():
        if line.startswith(("a=setup", "a=rtcp-fb", "a=fmtp", "a=group", "a=sendonly")):
            say("offer", line)
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    name = uuid.uuid4().hex
    sessions[name] = connection

    @connection.on("connectionstatechange")
    def changed():
        say("state", connection.connectionState)

    @connection.on("track")
    def added(track):
        asyncio.ensure_future(consume(name, track))

    await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
    if "codec" in settings:
        for transceiver in connection.getTransceivers():
            if transceiver.kind == "video":
                transceiver._codecs = [
                    codec for codec in transceiver._codecs if codec.name == settings["codec"]]
    await connection.setLocalDescription(await connection.createAnswer())
    headers = web.Response().headers.copy()
    headers["Location"] = f"/session/{name}"
    headers["ETag"] = f'"{name[:8]}"'
    if "links" in settings:
        for line in open(settings["links"]):
            headers.add("Link", line.strip())
    say("POST 201")
    return web.Response(
        status=201, text=connection.localDescription.sdp, content_type="application/sdp",
        headers=headers)


async def patch(request):
    connection = sessions.get(request.match_info["name"])
    if is_refused(request) or connection is None:
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
            await connection.addIceCandidate(candidate)
    say("PATCH 204")
    return web.Response(status=204)


async def delete(request):
    connection = sessions.pop(request.match_info["name"], None)
    if is_refused(request) or connection is None:
        say("DELETE refused")
        return web.Response(status=404)
    await connection.close()
    say("DELETE 200")
    return web.Response(status=200)


async def main():
    app = web.Application()
    app.add_routes([
        web.post("/whip", post), web.patch("/session/{name}", patch),
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
