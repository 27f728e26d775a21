"""Watches by WHEP with aiortc, which knows nothing of FrameBus.

  whep_viewer.py URL [CODEC]

It writes one line for each thing that happens: `POST 201`, `frame COUNT WxH`, `DELETE 200`.
"""
import asyncio
import signal
import sys
from urllib.parse import urljoin

import aioice.ice

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"] if use_ipv4 else []

import aiohttp
from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError


def say(*words):
    print(*words, flush=True)


async def consume(track):
    count = 0
    try:
        while True:
            frame = await track.recv()
            count += 1
            say("frame", count, f"{frame.width}x{frame.height}")
    except MediaStreamError:
        say("end")


async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    peer = RTCPeerConnection()
    transceiver = peer.addTransceiver("video", direction="recvonly")
    if len(sys.argv) > 2:
        codecs = RTCRtpReceiver.getCapabilities("video").codecs
        transceiver.setCodecPreferences(
            [codec for codec in codecs if codec.mimeType.endswith((sys.argv[2], "rtx"))])
    peer.on("track", lambda track: asyncio.ensure_future(consume(track)))
    await peer.setLocalDescription(await peer.createOffer())
    async with aiohttp.ClientSession() as session:
        async with session.post(
            sys.argv[1], data=peer.localDescription.sdp,
            headers={"Content-Type": "application/sdp"},
        ) as response:
            say("POST", response.status)
            resource = urljoin(sys.argv[1], response.headers.get("Location", ""))
            answer = await response.text()
        await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await stop.wait()
        async with session.delete(resource) as response:
            say("DELETE", response.status)
    await peer.close()


asyncio.run(main())
