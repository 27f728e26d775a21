"""Watches by WHEP with aiortc, which is independent of FrameBus.

  whep_viewer.py URL [key=value…]

It writes one line per event: `POST 201`, the direction of each section of the answer
(`answer a=sendonly`), `frame COUNT WxH`, the number that the test pattern drew
(`number 17`), the pitch of each second of sound (`sound 440.00`), the number of packets it sent
(`sent 0`), `DELETE 200`. Keys:

  codec=NAME      accepts only this codec
  media=KIND      requests `audio` instead of `video`; one kind, because aiortc does not bundle
  sends=yes       offers to send as well, and sends even if the answer refuses
  fir=N           requests a key frame by FIR after every N frames; `key COUNT` reports key frames
  size=WxH        says that it shows the pictures in this size (RFC 6236), and for `later=WxH` after
                  the first frame of another one
  visits=N        comes back N times in all, and leaves each time after five frames
"""
import asyncio
import signal
import sys
from urllib.parse import urljoin

import aioice.ice

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"] if use_ipv4 else []

import aiohttp
from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, VideoStreamTrack

from feedback import send_fir
from pitch import Pitch
from test_pattern import mark

settings = dict(word.split("=", 1) for word in sys.argv[2:])
kind = settings.get("media", "video")
first_frame = asyncio.Event()


def say(*words):
    print(*words, flush=True)


async def look(receiver, frame, count):
    say("frame", count, f"{frame.width}x{frame.height}")
    if number := mark(frame):
        say("number", number)
    if frame.key_frame:
        say("key", count)
    if count % int(settings.get("fir", sys.maxsize)) == 0:
        for source in receiver.getSynchronizationSources():
            await send_fir(receiver, source.source, count)


async def consume(receiver, track, stop):
    count = 0
    pitch = Pitch()
    try:
        while True:
            frame = await track.recv()
            count += 1
            first_frame.set()
            if count == 5 and "visits" in settings:
                stop.set()
            if track.kind == "video":
                await look(receiver, frame, count)
            elif heard := pitch.of_second(frame):
                say("sound", *heard)
    except MediaStreamError:
        say("end")


def offer(peer):
    """Adds the transceiver for the requested media."""
    if "sends" in settings:
        peer.addTrack(AudioStreamTrack() if kind == "audio" else VideoStreamTrack())
        transceiver = peer.getTransceivers()[0]
    else:
        transceiver = peer.addTransceiver(kind, direction="recvonly")
    if "codec" in settings:
        codecs = RTCRtpReceiver.getCapabilities(kind).codecs
        transceiver.setCodecPreferences(
            [codec for codec in codecs if codec.mimeType.endswith((settings["codec"], "rtx"))])


def take(answer):
    """The answer as aiortc gets it."""
    for line in answer.splitlines():
        if line in ("a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive"):
            say("answer", line)
    if "sends" in settings:
        answer = answer.replace("a=sendonly", "a=sendrecv")
    return RTCSessionDescription(answer, "answer")


def shown(size):
    width, height = size.split("x")
    return f"a=imageattr:* recv [x={width},y={height}]\r\n"


async def visit(session, stop):
    """Watches until it is to stop."""
    peer = RTCPeerConnection()
    offer(peer)
    receiver = peer.getTransceivers()[0].receiver
    peer.on("track", lambda track: asyncio.ensure_future(consume(receiver, track, stop)))
    await peer.setLocalDescription(await peer.createOffer())
    sdp = peer.localDescription.sdp
    if "size" in settings:
        sdp = sdp.replace("a=mid:", shown(settings["size"]) + "a=mid:", 1)
    async with session.post(
        sys.argv[1], data=sdp,
        headers={"Content-Type": "application/sdp"},
    ) as response:
        say("POST", response.status)
        resource = urljoin(sys.argv[1], response.headers.get("Location", ""))
        answer = await response.text()
    await peer.setRemoteDescription(take(answer))
    if "later" in settings:
        await first_frame.wait()
        async with session.patch(
            resource, data=shown(settings["later"]),
            headers={"Content-Type": "application/trickle-ice-sdpfrag"},
        ) as response:
            say("PATCH", response.status)
    await stop.wait()
    sent = sum(
        report.packetsSent for report in (await peer.getStats()).values()
        if report.type == "outbound-rtp")
    say("sent", sent)
    async with session.delete(resource) as response:
        say("DELETE", response.status)
    await peer.close()


async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with aiohttp.ClientSession() as session:
        for _ in range(int(settings.get("visits", 1))):
            await visit(session, stop)
            stop.clear()


asyncio.run(main())
