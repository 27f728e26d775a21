"""WHIP in front of Janus, whose video room receives the upload and forwards it as plain RTP, which
GStreamer decodes here.

  janus_whip.py JANUS address=ADDRESS [layers=yes]

JANUS: its HTTP API, `http://HOST:PORT/janus`. ADDRESS: where to listen, on any free port.
layers: forwards each layer of simulcast to a receiver of its own.
It writes `listening PORT`, the requests (`POST 201`), and the numbers that the test pattern draws
(`frame 17 640x360`).
"""
import asyncio
import socket
import subprocess
import sys
import threading
import uuid

from aiohttp import ClientSession, web

from test_pattern import mark_of

API = sys.argv[1]
settings = dict(word.split("=", 1) for word in sys.argv[2:])
ADDRESS = settings["address"]
ROOM = 1
janus = None
handles = {}
decoded = threading.Event()


def say(*words):
    print(*words, flush=True)


class Handle:
    """A Janus session with one handle of its video room."""

    async def call(self, path, **message):
        message["transaction"] = uuid.uuid4().hex
        async with janus.post(API + path, json=message) as answer:
            return await answer.json()

    async def open(self):
        self.session = f"/{(await self.call('', janus='create'))['data']['id']}"
        attached = await self.call(
            self.session, janus="attach", plugin="janus.plugin.videoroom")
        self.path = f"{self.session}/{attached['data']['id']}"

    async def ask(self, **body):
        """Sends a request that is answered at once."""
        return await self.call(self.path, janus="message", body=body)

    async def event(self, wanted):
        """The next event with a field."""
        while True:
            async with janus.get(API + self.session) as answer:
                event = await answer.json()
            if wanted in event:
                return event

    async def publish(self, offer):
        await self.ask(
            request="create", room=ROOM, videocodec="h264", bitrate=0, publishers=4)
        await self.call(
            self.path, janus="message", jsep={"type": "offer", "sdp": offer},
            body={"request": "joinandconfigure", "ptype": "publisher", "room": ROOM})
        event = await self.event("jsep")
        self.publisher = event["plugindata"]["data"]["id"]
        return event["jsep"]["sdp"]

    async def keep(self):
        """Polls the session, because Janus drops sessions that are not polled."""
        while True:
            event = await self.event("janus")
            say("janus", event["janus"])
            if event["janus"] == "webrtcup":
                await self.forward()
            if event["janus"] == "timeout":
                return

    async def forward(self):
        stream = {"mid": self.mid, "host": "127.0.0.1", "pt": 96}
        for name in ("port", "port_2", "port_3")[:3 if "layers" in settings else 1]:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                free.bind(("127.0.0.1", 0))
                stream[name] = free.getsockname()[1]
            threading.Thread(target=decode, args=(stream[name],), daemon=True).start()
        answer = await self.ask(
            request="rtp_forward", room=ROOM, publisher_id=self.publisher, host="127.0.0.1",
            streams=[stream])
        say("forwarded", "error" not in answer["plugindata"]["data"])
        # A receiver that joins later needs a key frame as soon as it listens.
        while not decoded.is_set():
            await self.ask(request="configure", keyframe=True)
            await asyncio.sleep(0.5)


def decode(port):
    command = (
        # The child ends as well if this program is killed.
        f"timeout 300 gst-launch-1.0 -q udpsrc address=127.0.0.1 port={port} "
        "caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96 "
        "! rtpjitterbuffer ! rtph264depay ! avdec_h264 ! videoconvert ! y4menc "
        "! fdsink sync=false")
    stream = subprocess.Popen(command.split(), stdout=subprocess.PIPE).stdout
    header = {word[:1]: word[1:] for word in stream.readline().split()}
    width, height = int(header[b"W"]), int(header[b"H"])
    while stream.readline():
        picture = stream.read(width * height * 3 // 2)
        decoded.set()
        say("frame", mark_of(picture, width, width, height), f"{width}x{height}")


async def post(request):
    offer = await request.text()
    handle = Handle()
    await handle.open()
    handle.mid = next(line[6:] for line in offer.splitlines() if line.startswith("a=mid:"))
    answer = await handle.publish(offer)
    name = uuid.uuid4().hex
    handles[name] = handle
    asyncio.ensure_future(handle.keep())
    say("POST 201")
    return web.Response(
        status=201, text=answer, content_type="application/sdp",
        headers={"Location": f"/session/{name}"})


async def patch(request):
    handle = handles[request.match_info["name"]]
    mid = None
    for line in (await request.text()).splitlines():
        if line.startswith("a=mid:"):
            mid = line[6:]
        if line.startswith("a=candidate:"):
            candidate = {"candidate": line[2:], "sdpMid": mid, "sdpMLineIndex": 0}
            await handle.call(handle.path, janus="trickle", candidate=candidate)
        if line == "a=end-of-candidates":
            await handle.call(handle.path, janus="trickle", candidate={"completed": True})
    say("PATCH 204")
    return web.Response(status=204)


async def delete(request):
    handle = handles.pop(request.match_info["name"])
    await handle.call(handle.session, janus="destroy")
    say("DELETE 200")
    return web.Response(status=200)


async def main():
    global janus
    janus = ClientSession()
    app = web.Application()
    app.add_routes([
        web.post("/whip", post), web.patch("/session/{name}", patch),
        web.delete("/session/{name}", delete)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, ADDRESS, 0)
    await site.start()
    say("listening", site._server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(main())
