"""Headless viewers of a mountpoint of Janus' streaming plugin, on aiortc: each decodes what it
receives, and reads when each picture was drawn (the test pattern's mark).

  janus_viewers.py API MOUNTPOINT COUNT FRAMES

API: Janus' HTTP API, `http://HOST:PORT/janus`. Once every viewer has decoded FRAMES pictures, it
writes a line for each, `viewer 3 frames 75 missing 0 p50 41 p99 60` in milliseconds, and ends.
"""
import asyncio
import os
import sys
import time
import uuid

from aiohttp import ClientSession
from aiortc import RTCPeerConnection, RTCSessionDescription

from test_pattern import whole_mark

api, mountpoint, count, frames = sys.argv[1], *map(int, sys.argv[2:5])


class Viewer:
    def __init__(self, http):
        self.http = http
        self.peer = RTCPeerConnection()
        self.numbers, self.ages = [], []
        self.done = asyncio.Event()

    async def call(self, path, **message):
        message["transaction"] = uuid.uuid4().hex
        async with self.http.post(api + path, json=message) as answer:
            return await answer.json()

    async def event(self, wanted):
        while True:
            async with self.http.get(api + self.session) as answer:
                event = await answer.json()
            if wanted in event:
                return event

    async def watch(self):
        self.session = f"/{(await self.call('', janus='create'))['data']['id']}"
        attached = await self.call(self.session, janus="attach", plugin="janus.plugin.streaming")
        handle = f"{self.session}/{attached['data']['id']}"
        await self.call(
            handle, janus="message", body={"request": "watch", "id": mountpoint})
        offer = (await self.event("jsep"))["jsep"]["sdp"]
        self.peer.on("track", lambda track: asyncio.ensure_future(self.read(track)))
        await self.peer.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        await self.peer.setLocalDescription(await self.peer.createAnswer())
        answer = {"type": "answer", "sdp": self.peer.localDescription.sdp}
        await self.call(handle, janus="message", body={"request": "start"}, jsep=answer)
        # Janus drops sessions that are not polled.
        while not self.done.is_set():
            await self.event("janus")

    async def read(self, track):
        while not self.done.is_set():
            value = whole_mark(await track.recv())
            if value is None:
                continue
            now = time.monotonic_ns() // 1_000_000 & 0xFFFF_FFFF
            self.numbers.append(value >> 32)
            self.ages.append(now - (value & 0xFFFF_FFFF) & 0xFFFF_FFFF)
            if len(self.numbers) == frames:
                self.done.set()

    def report(self, index):
        ages = sorted(self.ages)
        missing = self.numbers[-1] - self.numbers[0] + 1 - len(set(self.numbers))
        print(
            "viewer", index, "frames", len(ages), "missing", missing, "p50",
            ages[len(ages) // 2], "p99", ages[len(ages) * 99 // 100], flush=True)


async def main():
    async with ClientSession() as http:
        viewers = [Viewer(http) for _ in range(count)]
        tasks = [asyncio.ensure_future(viewer.watch()) for viewer in viewers]
        await asyncio.gather(*(viewer.done.wait() for viewer in viewers))
        for index, viewer in enumerate(viewers):
            viewer.report(index)
        # Decoders' threads and sessions that are polled would go on.
        os._exit(0 if tasks else 1)


asyncio.run(main())
